import { expect, test } from 'vitest';
import { checkSendersShard } from '../../src/dns/daily-watch.ts';
import { lookUpSenderRecords } from '../../src/dns/sender-records-lookup.ts';
import { describeRecords } from '../../src/domain/dns/sender-record-texts.ts';
import { addLooked, type SenderName, toTold } from '../../src/domain/dns/sender-records.ts';
import { DAY_MS } from '../../src/domain/instant.ts';
import { dailyCheckOf, toSenderRecords } from '../../src/store/alerts/daily-checks.ts';
import { aDomain, anAccount, aRecord, aReportOf, NOW, receive } from '../support/builders.ts';
import { serveDns, type Zone } from '../support/dns-server.ts';
import { allShardRuns } from '../support/shard-runs.ts';
import { openTestStore } from '../support/store.ts';

const ED25519 = `v=DKIM1; k=ed25519; p=${Buffer.alloc(32, 7).toString('base64')}`;
const SPF: SenderName = { domain: 'example.com', selector: null, isProven: true };
/** A text is sent in strings of at most 255 bytes. */
const txt = (...records: string[]) => records.map((record) => record.match(/.{1,250}/g) ?? []);
const spf = (terms: string) => txt(`v=spf1 ${terms}`);

async function lookUp(zone: Zone, names: readonly SenderName[] = [SPF], deadlineMs?: number) {
  const { address, asked } = await serveDns(zone);
  return { asked, ...(await lookUpSenderRecords([address], names, deadlineMs)) };
}

const codesOf = async (zone: Zone) => {
  const [one] = (await lookUp(zone)).spf;
  return [
    one?.found?.lookups,
    one?.found?.voidLookups,
    one?.found?.findings.map(({ code }) => code),
  ];
};

test.each<[string, Zone, unknown]>([
  ['no record', {}, [0, 0, ['missing']]],
  ['two records', { 'example.com': txt('v=spf1 -all', 'v=spf1 a -all') }, [0, 0, ['several']]],
  ['no look-up', { 'example.com': spf('ip4:192.0.2.1 -all') }, [0, 0, []]],
  [
    'all kinds of terms, of which macros are counted',
    {
      'example.com': {
        ...{
          txt: spf('a mx ptr exists:%{i}.example.net include:i.example.net redirect=r.example.net'),
        },
        ...{ aaaa: ['2001:db8::1'], mx: [{ priority: 1, exchange: 'mx.example.com' }] },
      },
      'i.example.net': spf('ip4:192.0.2.1 -all'),
      'r.example.net': spf('-all'),
    },
    [6, 0, ['ptr']],
  ],
  [
    'three names without an answer',
    { 'example.com': spf('a:x.example.net mx:y.example.net exists:z.example.net -all') },
    [3, 3, ['too_many_void_lookups']],
  ],
  [
    'an include without a record',
    { 'example.com': spf('include:x.example.net -all') },
    [1, 1, ['no_record']],
  ],
  [
    'a loop',
    { 'example.com': spf('include:x.example.net'), 'x.example.net': spf('include:example.com') },
    [2, 0, ['loop']],
  ],
  [
    'anybody',
    { 'example.com': spf('include:x.example.net -all'), 'x.example.net': spf('+all') },
    [1, 0, ['pass_all']],
  ],
  [
    'anybody who fails by it',
    { 'example.com': spf('-include:x.example.net -all'), 'x.example.net': spf('all') },
    [1, 0, []],
  ],
  [
    'a fault of an included record',
    { 'example.com': spf('include:x.example.net'), 'x.example.net': spf('ip4:x') },
    [1, 0, ['syntax']],
  ],
])('SPF: %s', async (_, zone, expected) => {
  expect(await codesOf(zone)).toEqual(expected);
});

test('the include that costs most is named', async () => {
  const names = 'abcdefgh'.split('').map((one) => `${one}.example.net`);
  const looked = await lookUp({
    'example.com': spf('include:small.example.net include:large.example.net a:a.example.net -all'),
    'small.example.net': spf('a:a.example.net'),
    'large.example.net': spf(names.map((name) => `a:${name}`).join(' ')),
    ...Object.fromEntries(names.map((name) => [name, { a: ['192.0.2.1'] }])),
  });
  expect(looked.spf[0]?.found).toMatchObject({ lookups: 12, voidLookups: 0 });
  const texts = describeRecords(toTold(addLooked(undefined, looked, true)));
  expect(texts.join()).toMatch(
    /needs 12 DNS look-ups.* include:large.example.net \(9\) costs most/,
  );
});

test('includes of includes without an end are counted to fifty, and each name is asked for once', async () => {
  const many = [...Array(18).keys()].map((i) => `include:i${i % 8}.example.net`).join(' ');
  const zone: Zone = { 'example.com': spf(many) };
  for (let i = 0; i < 8; i += 1) zone[`i${i}.example.net`] = spf(many);
  const { asked, spf: found } = await lookUp(zone);
  expect(found[0]?.found).toMatchObject({ lookups: 50, record: expect.stringMatching(/^v=spf1/) });
  expect(found[0]?.found?.record?.length).toBeLessThanOrEqual(1_000);
  expect(found[0]?.found?.findings.length).toBeLessThanOrEqual(10);
  expect(asked.length).toBe(new Set(asked).size);
});

test('a server that does not answer in time leaves its names unknown, and no others', async () => {
  const key = (selector: string) => ({ domain: 'example.com', selector, isProven: true });
  const zone: Zone = {
    'example.com': spf('include:slow.example.net -all'),
    'slow.example.net': 'silent',
    's1._domainkey.example.com': txt(ED25519),
    's2._domainkey.example.com': 'servfail',
  };
  const found = await lookUp(zone, [SPF, key('s1'), key('s2'), key('s3')], 700);
  expect(found.spf[0]?.found).toBeUndefined();
  expect(found.keys.map((one) => one.found?.state)).toEqual(['found', undefined, 'missing']);
});

async function aWatch(zone: Zone) {
  const store = await openTestStore();
  const { id: accountId } = await anAccount(store.db);
  const domain = await aDomain(store.db, accountId, { name: 'example.com' });
  const { address, asked } = await serveDns(zone);
  let ms = Date.parse(NOW);
  const deps = {
    ...{ store, overMs: 0, now: () => new Date(ms) },
    lookUp: (names: readonly SenderName[]) => lookUpSenderRecords([address], names),
    logError: (error: unknown) => {
      throw error;
    },
  };
  /** How many questions DNS was asked, so long after the run before. */
  const run = async (afterMs = 0) => {
    ms += afterMs;
    const before = asked.length;
    for (const one of allShardRuns()) await checkSendersShard(deps, one);
    return asked.length - before;
  };
  const find = async () => {
    const row = await store.reader.readAll(dailyCheckOf({ domainId: domain.id, type: 'senders' }));
    return toSenderRecords(row[0]);
  };
  const report = (
    selector: string,
    result: 'pass' | 'fail',
    count: number,
    { of = 'example.com', sourceIp = '192.0.2.1' } = {},
  ) =>
    aRecord({
      ...{ count, sourceIp, spfDomain: 'bounce.example.com', spfResult: 'pass' },
      signatures: [{ domain: of, selector, result, humanResult: null }],
    });
  const sent = (...records: ReturnType<typeof aRecord>[]) =>
    receive(store.db, [aReportOf(records, { domain: 'example.com' })]);
  return { asked, run, find, report, sent };
}

test('each name is asked for once a day, and what is found counts on the second', async () => {
  const zone: Zone = { 'example.com': spf('-all'), 'bounce.example.com': spf('-all') };
  const { run, find, report, sent, asked } = await aWatch(zone);
  await sent(report('s1', 'pass', 5), report('x', 'pass', 9, { of: 'other.example' }));
  expect(await run()).toBe(3);
  expect(new Set(asked)).toEqual(
    new Set(['example.com', 'bounce.example.com', 's1._domainkey.example.com']),
  );
  expect([await run(DAY_MS / 24), await run(DAY_MS / 2)]).toEqual([0, 0]);
  expect((await find()).checkedAt).toBeNull();
  expect(await run(DAY_MS / 2)).toBe(3);
  expect(await find()).toMatchObject({
    spf: [{ domain: 'example.com' }, { domain: 'bounce.example.com' }],
    keys: [{ selector: 's1', confirmed: { state: 'missing' } }],
  });
  zone['s1._domainkey.example.com'] = txt(ED25519);
  zone['example.com'] = 'servfail';
  await run(DAY_MS);
  expect((await find()).keys[0]?.confirmed?.state).toBe('missing');
  await run(DAY_MS);
  const { keys, spf: records } = await find();
  expect(keys[0]?.confirmed?.state).toBe('found');
  expect(records[0]?.confirmed?.record).toBe('v=spf1 -all');
});

test('selectors that strangers made up take no place of those with which messages passed', async () => {
  const { asked, run, report, sent } = await aWatch({});
  const from = (i: number) => ({ sourceIp: `198.51.100.${i}` });
  const own = [...Array(45).keys()].map((i) => report(`own${i}`, 'pass', 1, from(i)));
  const made = [...Array(60).keys()].map((i) =>
    report(`made-up${i}`, 'fail', 1_000, from(100 + i)),
  );
  await sent(...own, ...made);
  await run();
  const selectors = asked.filter((name) => name.includes('_domainkey'));
  expect(selectors.filter((name) => name.startsWith('own'))).toHaveLength(45);
  expect(selectors.length).toBeLessThanOrEqual(50);
});
