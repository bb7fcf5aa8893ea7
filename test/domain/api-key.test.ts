import { describe, expect, test } from 'vitest';
import { assertCanHaveKey, generateApiKey, isApiKey } from '../../src/domain/access/api-key.ts';
import { hashSecret } from '../../src/domain/access/secret.ts';
import { parseDisplayName } from '../../src/domain/display-name.ts';

/** Computed independently: CRC-32 in base62, most significant digit first. */
const KNOWN = [
  'plb_live_0000000000000000000000000000002wske8',
  'plb_live_0123456789ABCDEFGHIJKLMNOPQRST0hNZhV',
  'plb_live_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz169Dpn',
];

describe('generateApiKey', () => {
  test('plb_live_ and 36 letters and digits, as published to secret scanners', () => {
    for (let i = 0; i < 200; i++) {
      const { key } = generateApiKey();
      expect(key).toMatch(/^plb_live_[0-9A-Za-z]{36}$/);
      expect(`see ${key}, please`.match(/\bplb_live_[0-9A-Za-z]{36}\b/)?.[0]).toBe(key);
      expect(isApiKey(key)).toBe(true);
    }
  });

  test('keeps the first four random characters for display, and a SHA-256 of the whole key', () => {
    const { key, prefix, sha256 } = generateApiKey();
    expect(prefix).toBe(key.slice(0, 13));
    expect(sha256).toEqual(hashSecret(key));
  });

  test('no two are the same, and every character occurs', () => {
    const keys = Array.from({ length: 500 }, () => generateApiKey().key);
    expect(new Set(keys).size).toBe(500);
    expect(new Set(keys.map((key) => key.slice(9, 39)).join('')).size).toBe(62);
  });
});

describe('isApiKey', () => {
  test.each(KNOWN)('%s is valid', (key) => {
    expect(isApiKey(key)).toBe(true);
  });

  test('a key with any one character mistyped is invalid', () => {
    const { key } = generateApiKey();
    for (let i = 9; i < key.length; i++) {
      const other = key[i] === 'x' ? 'y' : 'x';
      expect(isApiKey(key.slice(0, i) + other + key.slice(i + 1)), `at ${i}`).toBe(false);
    }
  });

  test('a key with two adjacent characters swapped is invalid', () => {
    const { key } = generateApiKey();
    for (let i = 9; i < key.length - 1; i++) {
      const [a, b] = [key.charAt(i), key.charAt(i + 1)];
      if (a === b) continue;
      expect(isApiKey(key.slice(0, i) + b + a + key.slice(i + 2)), `at ${i}`).toBe(false);
    }
  });

  test.each<[string, (key: string) => string]>([
    ['nothing', () => ''],
    ['the prefix', () => 'plb_live_'],
    ['one character less', (key) => key.slice(0, -1)],
    ['one character more', (key) => `${key}0`],
    ['a line end', (key) => `${key}\n`],
    ['a leading blank', (key) => ` ${key}`],
    ['another prefix', (key) => key.replace('live', 'test')],
    ['an upper-case prefix', (key) => key.replace('plb', 'PLB')],
    ['a character outside base62', (key) => `${key.slice(0, 20)}-${key.slice(21)}`],
    ['a letter that looks like another', (key) => `${key.slice(0, 20)}а${key.slice(21)}`],
  ])('%s is invalid', (_what, change) => {
    expect(isApiKey(change(KNOWN[0] as string))).toBe(false);
  });
});

describe('hashSecret', () => {
  test('is plain SHA-256', () => {
    expect(Buffer.from(hashSecret('abc')).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

describe('parseDisplayName', () => {
  test.each([
    ['nightly sync', 'nightly sync'],
    ['  nightly sync\t', 'nightly sync'],
    ['x', 'x'],
    ['x'.repeat(100), 'x'.repeat(100)],
    [` ${'x'.repeat(100)} `, 'x'.repeat(100)],
    ['Übersicht – 月次', 'Übersicht – 月次'],
    ['🐙'.repeat(100), '🐙'.repeat(100)],
  ])('%j is stored as %j', (text, name) => {
    expect(parseDisplayName(text, 'A key')).toBe(name);
  });

  test.each([
    '',
    ' ',
    '\t\n',
    '\u00a0',
    'x'.repeat(101),
    '🐙'.repeat(101),
    'a\nb',
    'a\tb',
    'a\0b',
    'a\u007fb',
    'a\u0085b',
    'a\u2028b',
    '\u001b[31m',
  ])('%j is rejected', (text) => {
    expect(() => parseDisplayName(text, 'A key')).toThrow(
      'A key needs a name of 1 to 100 characters, without control characters.',
    );
  });
});

describe('assertCanHaveKey', () => {
  test.each([0, 1, 9])('on Pro, with %i keys: yes', (count) => {
    expect(() => assertCanHaveKey('pro', count)).not.toThrow();
  });

  test.each([10, 11])('on Pro, with %i keys: no, and the message says what to do', (count) => {
    expect(() => assertCanHaveKey('pro', count)).toThrow(/at most 10 .*Delete one/);
  });

  test('not on Pro: no', () => {
    expect(() => assertCanHaveKey('free', 0)).toThrow(/Pro plan/);
  });

  test('one to enable: on Pro only', () => {
    expect(() => assertCanHaveKey('pro')).not.toThrow();
    expect(() => assertCanHaveKey('free')).toThrow(/Pro plan/);
  });
});
