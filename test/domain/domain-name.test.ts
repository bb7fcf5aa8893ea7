import { describe, expect, test } from 'vitest';
import { parseDomainName } from '../../src/domain/domain-name.ts';

describe('parseDomainName', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    [' example.com ', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['a_b.mail.example', 'a_b.mail.example'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('%s is stored as %s', (text, name) => {
    expect(parseDomainName(text)).toBe(name);
  });

  test.each([
    '',
    '.',
    'localhost',
    'example..com',
    '-a.example',
    'a-.example',
    'exa mple.com',
    'example.com/x',
    'example.com:80',
    'a@example.com',
    '%61.example',
    '192.0.2.1',
    '0x7f.1',
    '[2001:db8::1]',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(130)}example`,
  ])('%j is not a domain name', (text) => {
    expect(parseDomainName(text)).toBeUndefined();
  });
});
