import { expect, test } from 'vitest';
import { parseSpf } from '../../../src/domain/dns/spf-terms.ts';

const namesOf = (record: string) => {
  const terms = parseSpf(record, 'example.com');
  return typeof terms === 'string' ? terms : terms.map(({ name, target }) => `${name} ${target}`);
};

test.each([
  ['v=spf1', []],
  ['v=spf1  a MX/24 -all', ['a example.com', 'mx example.com', 'all example.com']],
  ['v=spf1 a:mail.example.com/24//64 ~all', ['a mail.example.com', 'all example.com']],
  ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 ?all', ['ip4 null', 'ip6 null', 'all example.com']],
  ['v=spf1 exists:%{i}._spf.example.net', ['exists null']],
  ['v=spf1 redirect=_spf.example.net a', ['a example.com', 'redirect _spf.example.net']],
  ['v=spf1 redirect=_spf.example.net a -all', ['a example.com', 'all example.com']],
  ['v=spf1 -all include:later.example.net', ['all example.com']],
  ['v=spf1 exp=why.example.com unknown=1 a', ['exp null', 'unknown null', 'a example.com']],
])('%s is read', (record, names) => {
  expect(namesOf(record)).toEqual(names);
});

test.each(
  'include ip4:192.0.2 ip4:192.0.2.0/33 ip6:192.0.2.1 all:x include:localhost foo a:%x redirect=/ mx/33'.split(
    ' ',
  ),
)('%s is a term that cannot be read', (term) => {
  expect(namesOf(`v=spf1 a ${term} -all`)).toBe(term);
});

test('a second redirect cannot be read', () => {
  const twice = 'v=spf1 redirect=a.example.net redirect=b.example.net';
  expect(namesOf(twice)).toBe('redirect=b.example.net');
});
