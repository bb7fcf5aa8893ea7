import { expect, test } from 'vitest';
import { findFacts } from '../../src/alerts/alert-facts.ts';
import { DEFAULT_THRESHOLDS } from '../../src/domain/alerts/thresholds.ts';
import { addDays } from '../../src/domain/instant.ts';
import { aStore } from '../support/store.ts';
import { aReadFailure, aReadPolicy, aReadTlsReport } from '../support/tls-report.ts';
import { aWorld as aBareWorld } from './world.ts';

const NAME = 'history.example';
const GOOGLE = { authenticated: 'google.com' };
const day = (n: number) => addDays('2026-03-10', n);

/** TLS reports of a domain come on the day after, and its alerts are evaluated. */
async function aWorld() {
  const store = await aStore();
  const world = await aBareWorld(store, { name: NAME });
  const tell = async (n: number, failures: number, sender: object = GOOGLE) => {
    const details = failures === 0 ? [] : [aReadFailure({ sessions: failures })];
    const policy = aReadPolicy({ domain: NAME, mode: 'enforce', successes: 8, failures, details });
    const of = { domain: NAME, reportId: `${n} ${failures}`, begin: `${day(n)}T00:00:00Z` };
    const report = aReadTlsReport({ ...of, policies: [policy] });
    await world.receive([report], `${day(n + 1)}T06:00:00Z`, sender);
    await world.evaluate();
    return (await world.alerts()).map(({ type, resolved_at, context }) => {
      const { day, failed_sessions, unauthenticated, resolution } = context;
      expect(type).toBe('alert.tls_failures');
      expect(unauthenticated).toBeUndefined();
      return [day, failed_sessions, resolved_at === null ? 'open' : resolution];
    });
  };
  return { ...world, store, tell };
}

test('it fires once, follows late reports of its day, resolves, and does not fire again', async () => {
  const { tell } = await aWorld();
  expect(await tell(0, 0)).toEqual([]);
  expect(await tell(1, 30)).toEqual([[day(1), 30, 'open']]);
  expect(await tell(1, 5)).toEqual([[day(1), 35, 'open']]);
  expect(await tell(2, 0)).toEqual([[day(1), 35, 'open']]);
  for (const n of [3, 4]) expect(await tell(n, 0)).toEqual([[day(1), 35, 'recovered']]);
});

test('what is not believed fires nothing, and hides nothing', async () => {
  const { tell } = await aWorld();
  for (const sender of [{ authenticated: '' }, { authenticated: 'stranger.example' }])
    expect(await tell(0, 500, sender)).toEqual([]);
  expect(await tell(1, 30)).toEqual([[day(1), 30, 'open']]);
  for (const n of [2, 3])
    expect(await tell(n, 0, { authenticated: '' })).toEqual([[day(1), 30, 'open']]);
});

test('reports are read where one tells of a failure lately, or an alert is open, and else none', async () => {
  const { store, id: domainId, tell } = await aWorld();
  const findTls = async (n: number) => {
    const query = { domainId, now: `${day(n)}T06:00:00Z`, thresholds: DEFAULT_THRESHOLDS };
    return (await findFacts(store.reader, query)).domain?.views[0].tls.length;
  };
  await tell(0, 0);
  expect(await findTls(1)).toBe(0);
  await tell(1, 1);
  expect(await findTls(2)).toBe(2);
  expect(await findTls(6)).toBe(0);
  await tell(2, 30);
  expect(await findTls(30)).toBe(3);
});
