import { expect, test } from 'vitest';
import { type Cursor, parseStart, toCursor } from '../../src/domain/cursor.ts';

const PLACE: Cursor = { key: 2 ** 40 + 7, number: 2 ** 47, nonce: 'AbCdEf_-' };
const CURSOR = toCursor('reports of a domain', PLACE);

test('a cursor is read as it was written', () => {
  expect(CURSOR).toMatch(/^p[\w-]{30}$/);
  expect(parseStart('reports of a domain', CURSOR)).toEqual(PLACE);
  expect(parseStart('reports of a domain', 'start')).toBe('start');
});

test.each<[string, (cursor: string) => string]>([
  ['of other bytes', (cursor) => `q${cursor.slice(1)}`],
  ['too short', (cursor) => cursor.slice(0, -1)],
  ['too long', (cursor) => `${cursor}A`],
  ['padded', (cursor) => `${cursor}=`],
  ['with a line break', (cursor) => `${cursor}\n`],
  ['with spare bits', (cursor) => `${cursor.slice(0, -1)}B`],
  ['in base64', (cursor) => cursor.replaceAll('_', '/').replaceAll('-', '+')],
  ['with a foreign character', (cursor) => `${cursor.slice(0, 20)}*${cursor.slice(21)}`],
])('a cursor %s is none', (_what, change) => {
  const text = change(CURSOR);
  expect(text).not.toBe(CURSOR);
  expect(parseStart('reports of a domain', text)).toBeUndefined();
});

test('a cursor with any one character changed is none', () => {
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const [i, own] of [...CURSOR].entries())
    for (const other of characters.replace(own, '')) {
      const text = CURSOR.slice(0, i) + other + CURSOR.slice(i + 1);
      expect(parseStart('reports of a domain', text), text).toBeUndefined();
    }
});

test('a cursor of another list is none', () => {
  expect(parseStart('alerts of a domain', CURSOR)).toBeUndefined();
});
