import { describe, expect, onTestFinished, test } from 'vitest';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { checkDomain, checkShard, createLookUp, type LookUp } from '../../src/dns/record-watch.ts';
import { toInstant } from '../../src/domain/instant.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { aWorld } from '../alerts/world.ts';
import { serveDns, type Zone } from '../support/dns-server.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { allShardRuns } from '../support/shard-runs.ts';
import { openTestStore } from '../support/store.ts';

/** Only where nothing answers is a limit reached: a busy machine is slow to answer. */
const lookUpIn =
  (zone: Zone, address: string): LookUp =>
  (type, domain) =>
    createLookUp([address], zone[domain] === 'silent' ? 10 : PATIENCE_MS)(type, domain);
const START = Date.parse('2026-03-01T00:00:00Z');
const at = (minutes: number) => toInstant(new Date(START + minutes * 60_000));

describe('looking up a record', () => {
  const zone: Zone = {
    '_dmarc.joined.example': [['v=DMARC1; p=re', 'ject; rua=mailto:d@', 'joined.example']],
    'many.example': [['some-verification=1'], ['v=spf1 mx ', '-all'], ['other']],
    'other.example': [['some-verification=1']],
    'empty.example': 'empty',
    'broken.example': 'servfail',
    'silent.example': 'silent',
  };

  test.each([
    ['dmarc', 'joined.example', 'v=DMARC1; p=reject; rua=mailto:d@joined.example'],
    ['spf', 'many.example', 'v=spf1 mx -all'],
    ['spf', 'other.example', null],
    ['spf', 'empty.example', null],
    ['dmarc', 'nxdomain.example', null],
    ['spf', 'broken.example', undefined],
    ['spf', 'silent.example', undefined],
  ] as const)('%s of %s: %s', async (type, domain, wanted) => {
    const { address } = await serveDns(zone);
    expect(await lookUpIn(zone, address)(type, domain)).toBe(wanted);
  });

  test('a server that does not respond gives no answer', async () => {
    expect(await createLookUp(['127.0.0.1:1'], 10)('spf', 'example.com')).toBeUndefined();
  });
});

async function aWatchedWorld(zone: Zone) {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  const { address, asked } = await serveDns(zone);
  const world = await aWorld(store, { name: 'example.com' });
  const given = {
    ...world.deps,
    lookUp: lookUpIn(zone, address),
    evaluate: (domainId: string) => evaluate(world.deps, [domainId]),
  };
  /** Types of the open alerts after a check this many minutes after the start. */
  const check = async (minutes: number) => {
    world.setNow(at(minutes));
    await checkDomain(given, { id: world.id, name: world.name });
    const open = (await world.alerts()).filter(({ resolved_at }) => resolved_at === null);
    return open.map(({ type, subject }) => `${type.replace('alert.', '')} ${subject}`.trim());
  };
  return { ...world, store, given, asked, check };
}

/** DNS without a network, whose time limits would matter on a busy machine. */
function aRecorder() {
  const asked: string[] = [];
  const lookUp: LookUp = async (type, domain) => {
    asked.push(`${type} ${domain}`);
    return null;
  };
  return { asked, lookUp };
}

describe('watching', () => {
  test('a changed record fires after two checks ten minutes apart; a check without an answer never counts', async () => {
    const zone: Zone = {
      'example.com': [['v=spf1 mx -all']],
      '_dmarc.example.com': [['v=DMARC1; p=reject']],
    };
    const { check, alerts } = await aWatchedWorld(zone);
    expect([await check(0), await check(60)]).toEqual([[], []]);
    zone['example.com'] = [['v=spf1 ', ' -all   mx']];
    expect([await check(120), await check(180)]).toEqual([[], []]);
    zone['example.com'] = [['v=spf1 mx ~all']];
    expect([await check(240), await check(245)]).toEqual([[], []]);
    zone['example.com'] = 'servfail';
    expect(await check(260)).toEqual([]);
    zone['example.com'] = 'silent';
    expect(await check(280)).toEqual([]);
    zone['example.com'] = [['v=spf1 mx ~all']];
    expect(await check(300)).toEqual(['dns_record_changed spf']);
    expect((await alerts())[0]?.context).toEqual({
      record_type: 'spf',
      record_name: 'example.com',
      change: 'modified',
      // The value as it was confirmed, including blanks.
      previous_value: 'v=spf1 mx -all',
      current_value: 'v=spf1 mx ~all',
    });
    zone['example.com'] = [['v=spf1 mx -all']];
    expect([await check(360), await check(370)]).toEqual([['dns_record_changed spf'], []]);
  });

  test('a removed name counts: the policy is weaker, and that is one alert', async () => {
    const zone: Zone = { '_dmarc.example.com': [['v=DMARC1; p=quarantine']] };
    const { check } = await aWatchedWorld(zone);
    await check(0);
    await check(60);
    delete zone['_dmarc.example.com'];
    expect([await check(120), await check(180)]).toEqual([[], ['policy_weakened']]);
    zone['_dmarc.example.com'] = [['v=DMARC1; p=quarantine']];
    expect([await check(240), await check(300)]).toEqual([['policy_weakened'], []]);
  });

  test('nothing is stored for a paused domain, and a resumed one starts again', async () => {
    const zone: Zone = { '_dmarc.example.com': [['v=DMARC1; p=reject']] };
    const { check, store, id } = await aWatchedWorld(zone);
    await check(0);
    await check(60);
    await updateDomainStatus(store.db, id, 'paused', at(70));
    zone['_dmarc.example.com'] = [['v=DMARC1; p=none']];
    expect([await check(120), await check(180)]).toEqual([[], []]);
    await updateDomainStatus(store.db, id, 'active', at(200));
    expect([await check(240), await check(300), await check(360)]).toEqual([[], [], []]);
    zone['_dmarc.example.com'] = [];
    expect([await check(420), await check(480)]).toEqual([[], ['policy_weakened']]);
  });

  test('every active domain is checked once; another process that takes over leaves out what was checked', async () => {
    const { store, given, setNow } = await aWatchedWorld({});
    const { asked, lookUp } = aRecorder();
    const others = [];
    for (let i = 0; i < 4; i++) others.push(await aWorld(store, { name: `d${i}.example` }));
    await updateDomainStatus(store.db, (others[0] as { id: string }).id, 'paused', at(0));
    const logged: unknown[] = [];
    const logError = (error: unknown) => void logged.push(error);
    const watching = { ...given, lookUp, logError, overMs: 20 };
    setNow(at(60));
    const checkAll = async (steps?: number) => {
      const ends = [];
      for (const run of allShardRuns(steps === undefined ? {} : { steps }))
        ends.push(await checkShard(watching, run));
      return ends.filter((isComplete) => !isComplete).length;
    };
    expect(await checkAll(2)).toBeGreaterThan(0);
    // One domain, when another one is in its shard and has to wait, or two.
    expect([2, 4]).toContain(asked.length);
    setNow(at(62));
    expect(await checkAll()).toBe(0);
    const names = ['example.com', 'd1.example', 'd2.example', 'd3.example'];
    expect([...asked].sort()).toEqual(
      names.flatMap((name) => [`dmarc ${name}`, `spf ${name}`]).sort(),
    );
    setNow(at(120));
    expect(await checkAll()).toBe(0);
    expect(asked).toHaveLength(16);
    expect(logged).toEqual([]);
  });

  test('an earlier check does not count when the clock was set back since', async () => {
    const { given, setNow } = await aWatchedWorld({});
    const { asked, lookUp } = aRecorder();
    const watching = { ...given, lookUp, logError: () => undefined, overMs: 0 };
    for (const minutes of [600, 0]) {
      setNow(at(minutes));
      for (const run of allShardRuns()) await checkShard(watching, run);
    }
    expect(asked).toHaveLength(4);
  });
});
