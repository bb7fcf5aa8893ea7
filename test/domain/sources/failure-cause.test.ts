import { expect, test } from 'vitest';
import { addReport, type SourceSums } from '../../../src/domain/sources/day-sources.ts';
import { findCause } from '../../../src/domain/sources/failure-cause.ts';
import { aRecord, aSignature } from '../../support/builders.ts';

/** The records of some days. `192.0.2.1` and `192.0.2.2` belong to one service. */
function mailOf(days: number, records: readonly ReturnType<typeof aRecord>[]) {
  const sums: SourceSums = new Map();
  addReport(sums, { reporter: 'Reporter', records });
  return { sources: [...sums.values()], days };
}

const context = {
  domain: 'example.com',
  toService: (address: string) => (address.startsWith('192.0.2.') ? 'Example Mail' : undefined),
  toOrganizationalDomain: (name: string) => name.split('.').slice(-2).join('.'),
};

const passed = (sourceIp: string, count: number, selector = 's1') =>
  aRecord({ sourceIp, count, dkim: 'pass', signatures: [aSignature({ selector })] });
const failed = (sourceIp: string, count: number, selector?: string) => {
  const signatures = selector ? [aSignature({ selector, result: 'fail' })] : [];
  return aRecord({ sourceIp, count, dkim: 'fail', spf: 'fail', signatures });
};
const other = '198.51.100.7';

test.each([
  [
    'a selector that is invalid since',
    [passed('192.0.2.1', 100), passed(other, 100)],
    [failed('192.0.2.1', 8, 's1'), failed('192.0.2.2', 12, 's1'), passed(other, 20)],
    ['Example Mail', 'Example Mail', null, '20 of 20', 's1 example.com'],
  ],
  [
    'a signature that is missing since',
    [passed(other, 100, 's2')],
    [failed(other, 10)],
    [other, null, other, '10 of 10', 's2 example.com'],
  ],
  [
    'a new sender, without a signature to compare with',
    [passed(other, 100)],
    [failed('192.0.2.1', 50, 's1'), passed(other, 100)],
    ['Example Mail', 'Example Mail', '192.0.2.1', '50 of 50', 'null null'],
  ],
  [
    'a forger who sends more',
    [failed(other, 10), passed('192.0.2.1', 100)],
    [failed(other, 900), passed('192.0.2.1', 10)],
    [other, null, other, '900 of 900', 'null null'],
  ],
  [
    'SPF that stopped beside a signature that never counted',
    [aRecord({ sourceIp: other, count: 100, spf: 'pass', dkim: 'fail', signatures: [] })],
    [failed(other, 10)],
    [other, null, other, '10 of 10', 'null null'],
  ],
])('%s', (_name, before, since, wanted) => {
  const found = findCause(mailOf(10, before), mailOf(2, since), context);
  const { sender, service, source_ip, failed_count, message_count } = found ?? {};
  const figures = `${failed_count} of ${message_count}`;
  const signature = `${found?.selector} ${found?.signing_domain}`;
  expect([sender, service, source_ip, figures, signature]).toEqual(wanted);
});

test.each([
  ['nothing failed', [passed(other, 100)], [passed(other, 10)]],
  ['a sender fails as much as before', [failed(other, 100)], [failed(other, 20)]],
  [
    'no sender has half of what fails',
    [passed(other, 100)],
    ['203.0.113.1', '203.0.113.2', '203.0.113.3'].map((address) => failed(address, 10)),
  ],
  [
    'a sender has more failures of more messages',
    [passed(other, 95), failed(other, 5)],
    [passed(other, 950), failed(other, 50)],
  ],
])('no cause is named when %s', (_name, before, since) => {
  expect(findCause(mailOf(10, before), mailOf(2, since), context)).toBeUndefined();
});

test('no cause is named when no day before is known', () => {
  expect(findCause(mailOf(0, []), mailOf(2, [failed(other, 10)]), context)).toBeUndefined();
});
