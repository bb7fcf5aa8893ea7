import { describe, expect, test } from 'vitest';
import { findDifference } from './compare.ts';
import { listSamplePages, toPage } from './pages.ts';
import { choose } from './reader.ts';

const block = (language: string, text = 'x') => `\`\`\`${language}\n${text}\n\`\`\`\n`;

describe('the samples of a page', () => {
  test('consecutive programs in several languages are one step, with its output', () => {
    const text = block('js a.mjs 2') + block('python') + block('text', 'printed');
    const { steps } = toPage('p', `# P\n\n${text}\nWords.\n\n${block('sh')}`);
    expect(steps).toHaveLength(2);
    expect(steps[0]?.programs.map(({ language, file, args }) => [language, file, args])).toEqual([
      ['js', 'a.mjs', ['2']],
      ['python', undefined, []],
    ]);
    expect(steps[0]?.output).toEqual({ language: 'text', text: 'printed' });
  });

  test.each([
    ['a language that cannot be run', block('ruby')],
    ['no language', block('')],
    ['one in a list', `- item\n\n  \`\`\`ruby\n  x\n  \`\`\`\n`],
    ['an output that no program prints', block('json', '{}')],
    ['a second output', block('sh') + block('json', '{}') + block('text')],
  ])('%s is an error', (_what, text) => {
    expect(() => toPage('p', text)).toThrow(/^p: no/);
  });

  test('a reader of one language gets its program, or the shell program', () => {
    const [step] = toPage('p', block('js') + block('sh')).steps;
    if (step === undefined) throw new Error('no step');
    const languages = ['js', 'python', 'sh'].map((name) => choose(step, name)?.language);
    expect(languages).toEqual(['js', 'sh', 'sh']);
  });

  test('come from guides, the contract, and the README', () => {
    const names = listSamplePages().map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['getting-started', 'v1.yaml info', 'operations', 'README.md']),
    );
  });
});

describe('what a page shows, and the output', () => {
  const differs = (language: string, shown: string, printed: string) =>
    findDifference({ language, text: shown }, printed) !== undefined;
  const LIST = '{"data":[{"id":"477b5802-0dfa-89a0-9ddb-9a0b493f097e","n":1,"a":null}],"total":3}';
  const HTTP = 'HTTP/1.1 200 OK\r\nETag: W/"abc"\r\nRetry-After: 60\r\nX: 1\r\n\r\n{"a":1}';

  test.each([
    ['json', LIST, LIST.replace('477b', '0000')],
    ['json', '{"at":"2026-03-14T00:00:00Z"}', '{"at":"2027-01-01T05:06:07Z"}'],
    ['http', 'HTTP/1.1 200 OK\nETag: W/"x"\n\n{"a":1}', HTTP],
    ['http', 'HTTP/1.1 200 OK\nRetry-After: 60', HTTP],
    ['text', 'fell by 31.38 points', 'fell by 31.38 points\n'],
  ])('%s: are the same', (language, shown, printed) => {
    expect(differs(language, shown, printed)).toBe(false);
  });

  test.each([
    ['another total', 'json', LIST, LIST.replace('3}', '4}')],
    ['another figure', 'json', LIST, LIST.replace('"n":1', '"n":22')],
    ['another figure in a text', 'text', 'fell by 31.38 points', 'fell by 31.39 points'],
    ['one field more', 'json', LIST, LIST.replace('"a":null', '"a":null,"b":1')],
    ['one field less', 'json', LIST, LIST.replace(',"a":null', '')],
    ['a wrong null', 'json', LIST, LIST.replace('null', '"x"')],
    ['one item more', 'json', '{"data":[]}', '{"data":[1]}'],
    ['a body that is not JSON', 'json', LIST, 'Not Found'],
    ['another status', 'http', 'HTTP/1.1 304 Not Modified', HTTP],
    ['a missing header', 'http', 'HTTP/1.1 200 OK\nVary: X', HTTP],
    ['another value of a header', 'http', 'HTTP/1.1 200 OK\nRetry-After: 61', HTTP],
    ['another body', 'http', 'HTTP/1.1 200 OK\n\n{"b":1}', HTTP],
    ['other words', 'text', 'true\nfalse', 'true\ntrue'],
  ])('%s is a difference', (_what, language, shown, printed) => {
    expect(differs(language, shown, printed)).toBe(true);
  });
});
