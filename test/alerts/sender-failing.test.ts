import { expect, test } from 'vitest';
import { describeChange } from '../../src/domain/alerts/alert-texts.ts';
import { addDays } from '../../src/domain/instant.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { aRecord, aReportOf, aSignature, NOW } from '../support/builders.ts';
import { aMailChannel } from '../support/mail-channel.ts';
import { aStore } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';
import { aWorld as aBareWorld } from './world.ts';

/* Histories of a domain whose own server sends 5,000 messages a day, and of one more sender. */

const TYPE = 'alert.sender_failing';
const NAME = 'history.example';
const PAYROLL = '192.0.2.77';
const day = (n: number) => addDays('2026-03-01', n);

type Record = ReturnType<typeof aRecord>;

/** Of the domain, as readers see it. */
const aMail = (given: Parameters<typeof aRecord>[0]) => aRecord({ headerFrom: NAME, ...given });

const own = () =>
  aMail({
    ...{ sourceIp: '192.0.2.10', count: 5_000, dkim: 'pass', spf: 'pass', spfDomain: NAME },
    signatures: [aSignature({ domain: NAME, selector: 's1', result: 'pass' })],
  });

/** A server that is not signed. */
const payroll = (count: number, spfResult: string, sourceIp = PAYROLL) =>
  aMail({
    ...{ sourceIp, count, spfResult, spfDomain: NAME, signatures: [] },
    ...{ dkim: 'fail', spf: spfResult === 'pass' ? 'pass' : 'fail' },
  });

/** Signed as the domain and as a service, whose own envelope it has. */
const bySes = (count: number, result: string, selector = 's2') => {
  const signatures = [
    aSignature({ domain: NAME, selector, result }),
    aSignature({ domain: 'amazonses.com', selector: 'x', result: 'pass' }),
  ];
  const dkim = result === 'pass' ? 'pass' : 'fail';
  const spf = { spfDomain: 'eu-west-1.amazonses.com', spfResult: 'pass', spf: 'fail' } as const;
  return aMail({ sourceIp: '198.51.100.20', count, dkim, ...spf, signatures });
};

async function aWorld() {
  const store = await aStore();
  const world = await aBareWorld(store, { name: NAME });
  const say = async (n: number, records: readonly Record[]) => {
    const report = aReportOf([own(), ...records], { domain: NAME, begin: `${day(n)}T00:00:00Z` });
    await world.receive([report], `${addDays(day(n), 1)}T06:00:00Z`);
    await world.evaluate();
    return (await world.alerts()).filter(({ type }) => type === TYPE);
  };
  /** What is sent on each of some days; gives the alerts after the last. */
  const sayAll = async (from: number, to: number, toRecords: (n: number) => Record[]) => {
    let alerts = await world.alerts();
    for (let n = from; n <= to; n += 1) alerts = await say(n, toRecords(n));
    return alerts;
  };
  return { ...world, store, say, sayAll };
}

test('a server of 60 messages a day, 1 % of the mail, breaks on a day: it fires, is mailed, follows the days, and resolves', async () => {
  const { say, sayAll, store, accountId } = await aWorld();
  const mail = await aMailChannel(store, { now: () => '2026-03-13T07:00:00Z' });
  await aPerson(store, accountId, 'owner@example.com');
  expect(await sayAll(1, 10, () => [payroll(60, 'pass')])).toEqual([]);
  const [fired] = await say(11, [payroll(60, 'permerror')]);
  expect(fired?.context).toEqual({
    ...{ sender: PAYROLL, source_ip: PAYROLL, since: day(11), selector: null },
    ...{ message_count: 60, failed_count: 60, cause: 'spf_error' },
  });
  const told = `${PAYROLL} stopped passing on 12 Mar 2026: 60 of 60 messages since failed. Receivers cannot read the SPF record: mend it.`;
  expect(describeChange({ type: TYPE, context: fired?.context, isResolved: false }, NAME)).toBe(
    `Sender stopped passing on ${NAME}: ${told}`,
  );
  await mail.deliver();
  expect(mail.received.map(({ subject }) => subject)).toEqual([`${PAYROLL} fails on ${NAME}`]);
  expect(mail.received[0]?.text.startsWith(told)).toBe(true);
  const [later] = await say(12, [payroll(60, 'permerror')]);
  expect(later).toMatchObject({ id: fired?.id, context: { failed_count: 120, since: day(11) } });
  const [mended, another] = await say(13, [payroll(60, 'pass')]);
  expect([mended?.context.resolution, another]).toEqual(['recovered', undefined]);
});

test('five messages a day need four days that fail, however much others send', async () => {
  const { sayAll } = await aWorld();
  await sayAll(1, 8, () => [payroll(5, 'pass')]);
  expect(await sayAll(9, 11, () => [payroll(5, 'fail')])).toEqual([]);
  const [fired] = await sayAll(12, 12, () => [payroll(5, 'fail')]);
  expect(fired?.context).toMatchObject({ since: day(9), failed_count: 20, cause: 'spf_refuses' });
});

test('a break at noon is seen on the day after, since the day on which most failed', async () => {
  const { say, sayAll } = await aWorld();
  await sayAll(1, 8, () => [payroll(60, 'pass')]);
  expect(await say(9, [payroll(25, 'pass'), payroll(35, 'fail')])).toEqual([]);
  const [fired] = await say(10, [payroll(60, 'fail')]);
  expect(fired?.context).toMatchObject({ since: day(9), message_count: 120, failed_count: 95 });
});

test('a service is named with the selector that fails since, not the one from before', async () => {
  const { say, sayAll } = await aWorld();
  await sayAll(1, 8, () => [bySes(40, 'pass', 's1')]);
  const [fired] = await say(9, [bySes(40, 'permerror', 's2')]);
  expect(fired?.context).toMatchObject({
    ...{ sender: 'Amazon SES', source_ip: '198.51.100.20' },
    ...{ selector: 's2', cause: 'signature_broken' },
  });
});

test('neighbours with one name in DNS are one sender', async () => {
  const { say, sayAll, store, id } = await aWorld();
  const addresses = ['198.51.100.81', '198.51.100.82', '198.51.100.83'];
  const expiresAt = '2026-04-01T00:00:00Z';
  const names = addresses.map((address, i) => ({
    ...{ address, name: `out${i}.relay.example.net`, expiresAt },
  }));
  await updateNames(store.db, { domainId: id, now: NOW }, names);
  const all = (result: string) => addresses.map((address) => payroll(8, result, address));
  await sayAll(1, 8, () => all('pass'));
  const [fired, another] = await say(9, all('softfail'));
  expect(another).toBeUndefined();
  expect(fired?.context).toMatchObject({ source_ip: null, failed_count: 24 });
  expect(fired?.context.sender).toBe('out*.relay.example.net (198.51.100.0/24)');
});

test('a server beside another one of the owner’s is a sender of its own', async () => {
  const { say, sayAll, store, id } = await aWorld();
  const expiresAt = '2026-04-01T00:00:00Z';
  const names = [
    { address: '192.0.2.77', name: 'payroll.relay.example.net', expiresAt },
    { address: '192.0.2.10', name: 'mail.relay.example.net', expiresAt },
  ];
  await updateNames(store.db, { domainId: id, now: NOW }, names);
  const all = (result: string) => [
    payroll(60, result, '192.0.2.77'),
    payroll(9_000, 'pass', '192.0.2.10'),
  ];
  await sayAll(1, 8, () => all('pass'));
  const [fired] = await say(9, all('permerror'));
  expect(fired?.context).toMatchObject({ source_ip: '192.0.2.77', failed_count: 60 });
});

test('it becomes the new normal after 14 data days, and does not fire again', async () => {
  const { sayAll } = await aWorld();
  await sayAll(1, 8, () => [payroll(30, 'pass')]);
  const [open] = await sayAll(9, 22, () => [payroll(30, 'fail')]);
  expect(open?.resolved_at).toBeNull();
  const [over] = await sayAll(23, 23, () => [payroll(30, 'fail')]);
  expect(over?.context.resolution).toBe('new_normal');
  expect(await sayAll(24, 40, () => [payroll(30, 'fail')])).toHaveLength(1);
});

/** The sender passes for eight days; what of the ninth fires nothing. */
const SILENT: readonly (readonly [what: string, before: Record[], after: Record[]])[] = [
  ['never passed', [payroll(60, 'fail')], [payroll(60, 'fail')]],
  ['sent fewer than 20 before', [payroll(2, 'pass')], [payroll(60, 'fail')]],
  ['fails in 8 of 10', [payroll(60, 'pass')], [payroll(12, 'pass'), payroll(48, 'fail')]],
  [
    'is a service by which a stranger sends as the domain',
    [bySes(40, 'pass')],
    [
      bySes(40, 'pass'),
      aMail({
        ...{ sourceIp: '198.51.100.20', count: 900, dkim: 'fail', spf: 'fail' },
        ...{ spfDomain: 'bounce.stranger.example', spfResult: 'pass' },
        signatures: [
          aSignature({ domain: 'stranger.example', selector: 'a', result: 'pass' }),
          aSignature({ domain: 'amazonses.com', selector: 'x', result: 'pass' }),
        ],
      }),
    ],
  ],
  [
    'gets no answer of DNS at one receiver',
    [bySes(40, 'pass')],
    [bySes(10, 'pass'), bySes(400, 'temperror')],
  ],
  [
    'passes on what broke on the way',
    [aMail({ ...forwarded(40), dkim: 'pass', signatures: [signed('pass')] })],
    [aMail({ ...forwarded(40), dkim: 'fail', signatures: [signed('fail')] })],
  ],
];

function forwarded(count: number) {
  const spf = { spfDomain: 'list.example.net', spfResult: 'pass', spf: 'fail' } as const;
  return { sourceIp: '203.0.113.5', count, ...spf };
}

function signed(result: string) {
  return aSignature({ domain: NAME, selector: 's1', result });
}

test.each(SILENT)('nothing fires where a sender %s', async (_what, before, after) => {
  const { sayAll } = await aWorld();
  await sayAll(1, 8, () => before);
  expect(await sayAll(9, 10, () => after)).toEqual([]);
});

test('what people say is not theirs fires nothing', async () => {
  const { say, sayAll, store, id, accountId } = await aWorld();
  const by = { accountId, name: 'somebody', at: NOW, address: null };
  await updateMark(store.db, { domainId: id, subject: PAYROLL, mark: 'unknown' }, by);
  await sayAll(1, 8, () => [payroll(60, 'pass')]);
  expect(await say(9, [payroll(60, 'fail')])).toEqual([]);
});

test('nothing fires where the pass rate fell and its alert names the sender, and nothing for old days', async () => {
  const { say, sayAll, alerts } = await aWorld();
  await sayAll(1, 8, () => [payroll(2_000, 'pass')]);
  expect(await say(9, [payroll(2_000, 'fail')])).toEqual([]);
  expect(await alerts()).toMatchObject([
    { type: 'alert.alignment_regression', context: { cause: { sender: PAYROLL } } },
  ]);
  // Both have ended: only what was told of resolves.
  expect(await say(10, [payroll(2_000, 'pass')])).toEqual([]);
  expect(await alerts()).toMatchObject([{ context: { resolution: 'recovered' } }]);
  const old = await aWorld();
  const reports = Array.from({ length: 12 }, (_, n) =>
    aReportOf([own(), payroll(60, n < 9 ? 'pass' : 'fail')], {
      ...{ domain: NAME, begin: `${day(n)}T00:00:00Z` },
    }),
  );
  await old.receive(reports, `${day(20)}T06:00:00Z`);
  await old.evaluate();
  expect(await old.alerts()).toEqual([]);
});
