import { describe, expect, test } from 'vitest';
import { renderTextTable, wrap } from '../../src/commands/output/table.ts';

const ID = '8c0e2f0a-1111-4222-8333-123456789abc';
const widest = (table: string) => Math.max(...table.split('\n').map((line) => line.length));

describe('renderTable', () => {
  test('is as wide as its content when that fits', () => {
    expect(renderTextTable(['id', 'name'], [[ID, 'A']], 80)).toBe(
      [`id${' '.repeat(34)}  name`, `${'─'.repeat(36)}  ────`, `${ID}  A`].join('\n'),
    );
  });

  test.each([70, 80, 120])(
    'wraps the widest columns to fit %i columns, and never an id',
    (width) => {
      const long = 'a name that goes on and on '.repeat(5).trim();
      const table = renderTextTable(['id', 'name', 'file'], [[ID, long, 'x'.repeat(300)]], width);
      expect(widest(table)).toBe(width);
      expect(table).toContain(ID);
      expect(table.match(/x/g)).toHaveLength(300);
      expect(table.match(/\bon\b/g)).toHaveLength(10);
    },
  );

  test.each(['plb_live_AbC1', 'dashboard (plb_live_AbC1)'])(
    'never breaks a key’s prefix: %s',
    (text) => {
      const row = [text, 'x'.repeat(99), 'y'.repeat(99)];
      const table = renderTextTable(['key', 'name', 'file'], [row, row], 43);
      expect(widest(table)).toBe(43);
      expect(table.match(/plb_live_AbC1/g)).toHaveLength(2);
    },
  );

  test('is blocks of lines where ids alone are too wide', () => {
    const block = `id      ${ID}\ndomain  ${ID}\nname    A`;
    const row = [ID, ID, 'A'];
    expect(renderTextTable(['id', 'domain', 'name'], [row, row], 60)).toBe(`${block}\n\n${block}`);
  });

  test('counts characters that take two columns, and none', () => {
    const table = renderTextTable(
      ['name', 'plan'],
      [
        ['会社', 'pro'],
        ['e\u0301', 'pro'],
      ],
      80,
    );
    expect(table.split('\n').slice(2)).toEqual(['会社  pro', 'e\u0301     pro']);
  });
});

test('wrap breaks at spaces, and inside a word only when a line cannot hold it', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('a 0123456789', 4)).toEqual(['a', '0123', '4567', '89']);
});
