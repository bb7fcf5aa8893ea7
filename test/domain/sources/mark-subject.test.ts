import { expect, test } from 'vitest';
import { nameMarkSubject, parseMarkSubject } from '../../../src/domain/sources/mark-subject.ts';

test.each([
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['2001:DB8::0:1', '2001:db8::1', '2001:db8::1'],
  ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['service Twilio SendGrid', 'service Twilio SendGrid', 'Twilio SendGrid'],
  ['domain list.example.net', 'domain list.example.net', 'list.example.net'],
  ['network AS64500', 'network AS64500', 'AS64500'],
  ['scattered', 'scattered', 'Mail of scattered addresses'],
])('%s is marked as %s and called %s', (text, subject, name) => {
  expect(parseMarkSubject(text)).toBe(subject);
  expect(nameMarkSubject(subject)).toBe(name);
});

test.each([
  ...['', 'x', 'service', 'service ', 'service  x', 'service x ', ' scattered', 'scattered x'],
  ...['Service x', 'address 192.0.2.1', 'service a\0b', 'service a\nb', 'domain a\u202eb'],
  ...['192.0.2.256', '192.0.2.0/24', 'fe80::1%eth0', `service ${'x'.repeat(293)}`],
])('%j is nothing that can be marked', (text) => {
  expect(parseMarkSubject(text)).toBeUndefined();
});
