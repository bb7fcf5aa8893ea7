import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import GithubSlugger from 'github-slugger';
import { describe, expect, test } from 'vitest';
import { TABLES } from '../src/store/migrations/0001-tables.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** This file names what must not be written. */
const OWN = 'test/references.test.ts';

const files = globSync(
  [
    '{src,scripts,test}/**/*.{ts,py,sql}',
    'docs/**/*.md',
    'openapi/**/*.{yaml,md}',
    '{README,ARCHITECTURE,SECURITY}.md',
    'LICENSE',
  ],
  { cwd: ROOT, exclude: ['**/{node_modules,build}/**', 'test/clients/**', 'openapi/released/**'] },
).filter((file) => file !== OWN);
const texts = files.map((file) => ({ file, text: readFileSync(`${ROOT}/${file}`, 'utf8') }));

const decisions = globSync('docs/decisions/[0-9]*.md', { cwd: ROOT }).map((file) =>
  Number(/(\d{4})-/.exec(file)?.[1]),
);

/** A number with a part, as of a document of products, is not the number of a decision. */
const ELSEWHERE =
  /decisions?\s+\d+\.\d+|\s\([1-7]\.\d{1,2}\)|descriptions?,\s+sections?|decisions,\s+sections?/gi;
const DECISION = /(?<=\bdecisions?\s+(?:\d+(?:,|\s+and)\s+)*\[?)(\d+)(?![.\d])/gi;

describe('a reference in a comment or a document', () => {
  test('to a decision leads to a file of docs/decisions', () => {
    const lost = texts.flatMap(({ file, text }) =>
      [...text.matchAll(DECISION)]
        .filter(([, number]) => !decisions.includes(Number(number)))
        .map(([found]) => `${file}: ${found}`),
    );
    expect(lost).toEqual([]);
  });

  test('leads to nothing that only its writer had', () => {
    const lost = texts
      .filter(({ file }) => /^(src|scripts|test)\//.test(file))
      .flatMap(({ file, text }) =>
        [...text.matchAll(ELSEWHERE)].map(([found]) => `${file}: ${found}`),
      );
    expect(lost).toEqual([]);
  });

  test('of a document to a file or folder leads to one that is there', () => {
    const known = listFiles();
    const lost = texts
      .filter(({ file }) => /\.md$|^LICENSE$/.test(file) && !file.startsWith('openapi/'))
      .flatMap(({ file, text }) =>
        [...text.matchAll(PATH)]
          .filter(([, path = '']) => !known.some((one) => `/${one}`.includes(`/${path}`)))
          .map(([, path]) => `${file}: ${path}`),
      );
    expect(lost).toEqual([]);
  });

  test('of a decision to a name of the code leads to one that is there', () => {
    const isCode = /^(src|scripts)\/.*\.ts$|^openapi\/.*\.yaml$/;
    const code = texts.filter(({ file }) => isCode.test(file)).map(({ text }) => text);
    const isThere = (name: string) =>
      isColumn(name) || code.some((text) => new RegExp(`\\b${RegExp.escape(name)}\\b`).test(text));
    const lost = texts
      .filter(({ file }) => file.startsWith('docs/decisions/'))
      .flatMap(({ file, text }) =>
        [...text.matchAll(NAME)]
          .filter(([, name = '']) => !isThere(name))
          .map(([, name]) => `${file}: ${name}`),
      );
    expect(lost).toEqual([]);
  });

  test('of a document to another one leads to a heading that is there', () => {
    const documents = texts.filter(
      ({ file }) => file.endsWith('.md') && !file.startsWith('openapi/'),
    );
    const links = documents.flatMap(({ file, text }) =>
      [...listLinks(file, text)].map((link) => ({ file, ...link })),
    );
    const lost = links
      .filter(
        ({ path, heading }) =>
          !existsSync(`${ROOT}/${path}`) ||
          (heading !== undefined && path.endsWith('.md') && !toHeadings(path).includes(heading)),
      )
      .map(({ file, target }) => `${file}: ${target}`);
    expect(links.length).toBeGreaterThan(100);
    expect(lost).toEqual([]);
  });
});

/** Where the links of a document lead to another document's headings, or to a file: `#heading`, `../path#heading`. */
function* listLinks(file: string, text: string) {
  for (const [, target = ''] of text.matchAll(/\]\((?!https?:|mailto:|\/)([^)\s]*)\)/g)) {
    const [path = '', heading] = target.split('#');
    yield { target, path: path === '' ? file : join(dirname(file), path), heading };
  }
}

function toHeadings(path: string): string[] {
  const slugger = new GithubSlugger();
  const text = readFileSync(`${ROOT}/${path}`, 'utf8').replaceAll(/^```.*?^```/gms, '');
  return [...text.matchAll(/^#+ (.*)/gm)].map(([, heading = '']) =>
    slugger.slug(heading.replaceAll('`', '')),
  );
}

/** A function, a type, a variable, a table or a column, in code type: `finishListing`, `account.changes`. */
const NAME = /`([a-z_]\w*(?:\.[a-z_]\w*)?)`/gi;

function isColumn(name: string): boolean {
  const [table = '', column = ''] = name.split('.');
  return Object.entries(TABLES).some(([one, { columns }]) => one === table && column in columns);
}

/** A file of TypeScript, a document, or a folder, in code type; `list-….ts` is a pattern. */
const PATH = /`([\w-]+(?:\/[\w.-]+)*(?:\.ts|\.md|\/))`/g;
/** Made by a build, or by the one who reads. */
const MADE = ['site/', 'dist/', 'release/', 'screenshots/', 'data/', 'notify/', 'node_modules/'];

function listFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard'];
  return [...execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n'), ...MADE];
}
