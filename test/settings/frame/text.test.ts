import { describe, expect, test } from 'vitest';
import { formatDomainName, toSafeText } from '../../../src/domain/text.ts';
import {
  formatPeriod,
  renderDomainName,
  renderText,
  toSafePage,
} from '../../../src/settings/frame/text.ts';

describe('toSafeText', () => {
  test.each([
    ['plain text stays', 'Mailbox Provider, Inc.', 'Mailbox Provider, Inc.'],
    ['letters of any script stay', 'Почта 邮件 بريد', 'Почта 邮件 بريد'],
    ['a letter with its marks stays', 'Viê\u0323t', 'Viê\u0323t'],
    ['markup stays text, which html escapes', '<b>x</b>', '<b>x</b>'],
    ['a right-to-left override', 'invoice\u202efdp.exe', 'invoice\ufffdfdp.exe'],
    [
      'each control of direction',
      'a\u200e\u200f\u061c\u202a\u2066\u2069b',
      `a${'\ufffd'.repeat(6)}b`,
    ],
    ['characters without width', 'exa\u200b\u200d\u2060\u00admple', `exa${'\ufffd'.repeat(4)}mple`],
    ['fillers that look like blanks', 'a\u3164\u115fb', 'a\ufffd\ufffdb'],
    ['control characters', 'a\u0000\u0007\u009fb', 'a\ufffd\ufffd\ufffdb'],
    ['line breaks and blanks', '  a\r\n\t\u2028\u3000b  ', 'a b'],
    ['half of a pair', 'a\ud800b', 'a\ufffdb'],
    ['towers of marks', `Z${'\u0300'.repeat(40)}a`, 'Z\u0300\u0300\u0300a'],
    ['selectors of pictures go', '☀\ufe0f', '☀'],
  ])('%s', (_, text, safe) => {
    expect(toSafeText(text)).toBe(safe);
  });

  test.each([
    ['as long as allowed', 'x'.repeat(10), 'x'.repeat(10)],
    ['one character more', 'x'.repeat(11), `${'x'.repeat(9)}…`],
    ['pairs are not cut', '😀'.repeat(11), `${'😀'.repeat(9)}…`],
    ['long blanks', `a${' '.repeat(1000)}b`, 'a…'],
  ])('is cut: %s', (_, text, safe) => {
    expect(toSafeText(text, 10)).toBe(safe);
  });

  test('looks at no more of a long text than it needs', () => {
    expect(toSafeText('\u0300'.repeat(20_000_000), 5)).toBe('\u0300\u0300\u0300…');
  });

  test('as a part of a page, it is escaped and apart from the text around it', () => {
    expect(String(renderText('<i>שלום\u202e'))).toBe('<bdi>&lt;i&gt;שלום\ufffd</bdi>');
  });
});

test('a whole page has no controls of direction, whatever went into it', () => {
  expect(toSafePage('<p>\n\ta\u202eb\u200b\u0000c\u2069 d</p>')).toBe(
    '<p>\n\ta\ufffdb\ufffd\ufffdc\ufffd d</p>',
  );
});

describe('a domain name', () => {
  test.each([
    ['example.com', 'example.com'],
    ['xn--bcher-kva.example', 'bücher.example (xn--bcher-kva.example)'],
    ['mail.xn--bcher-kva.example', 'mail.bücher.example (mail.xn--bcher-kva.example)'],
    // From right to left: its labels would change places.
    ['xn--4dbrk0ce.example', 'xn--4dbrk0ce.example'],
    // No valid A-label.
    ['xn--a.example', 'xn--a.example'],
    ['my-xn--name.example', 'my-xn--name.example'],
    ['evil\u202e.example', 'evil\ufffd.example'],
  ])('%s', (name, text) => {
    expect(formatDomainName(name)).toBe(text);
  });

  test('on a page has its labels in their order, whatever their direction', () => {
    expect(String(renderDomainName('xn--4dbrk0ce.example'))).toBe(
      '<span class="idn"><bdi>ישראל</bdi>.<bdi>example</bdi> <small>xn--4dbrk0ce.example</small></span>',
    );
    expect(String(renderDomainName('example.com'))).toBe('example.com');
    expect(String(renderDomainName('<b>.example'))).toBe('&lt;b&gt;.example');
  });
});

test.each([
  ['2026-03-15', '2026-03-15', 'Sun 15 Mar 2026'],
  ['2026-03-09', '2026-03-15', '9 – 15 Mar 2026'],
  ['2026-02-28', '2026-03-06', '28 Feb – 6 Mar 2026'],
  ['2025-03-28', '2026-03-03', '28 Mar 2025 – 3 Mar 2026'],
])('the days from %s to %s are %s', (from, to, text) => {
  expect(formatPeriod({ from, to })).toBe(text);
});
