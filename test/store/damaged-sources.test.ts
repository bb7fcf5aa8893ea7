import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { readSources } from '../../src/store/sources/list.ts';
import { repairDays } from '../../src/store/sources/recount.ts';
import { findLastDay, readSource } from '../../src/store/sources/source.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, NOW, receive } from '../support/builders.ts';
import { holdSources } from '../support/recount-sources.ts';
import { openTestStore } from '../support/store.ts';

const [MAILER, OTHER] = ['192.0.2.1', '192.0.2.2'];
const range = { from: '2026-03-01', to: '2026-03-31' };

const aReportFrom = (sourceIp: string, day: string) =>
  aReportOf([aRecord({ sourceIp, count: 5 })], { begin: `2026-03-${day}T00:00:00Z` });

/** A domain with reports of two days. */
async function twoDays() {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  const accountId = await aBareAccount(store.db);
  const { id: domainId } = await aDomain(store.db, accountId, { name: 'example.com' });
  await receive(store.db, [aReportFrom(MAILER, '10'), aReportFrom(OTHER, '11')]);
  return { store, scope: { accountId, domainId } };
}

type Damage = (bytes: Uint8Array) => Uint8Array;

async function damageDay({ db }: Store, by: Damage): Promise<void> {
  const ofDay = db.selectFrom('domain_day').select('sources').where('day', '=', '2026-03-10');
  const { sources } = await ofDay.executeTakeFirstOrThrow();
  const damaged = { sources: by(sources as Uint8Array) };
  await db.write((tx) =>
    tx.updateTable('domain_day').set(damaged).where('day', '=', '2026-03-10').execute(),
  );
}

describe.each<[string, Damage]>([
  ['shorter', (bytes) => bytes.subarray(0, -3)],
  ['longer', (bytes) => Buffer.concat([bytes, bytes])],
  ['empty', () => Buffer.alloc(0)],
  ['random', (bytes) => randomBytes(bytes.length)],
  ['different by one bit', (bytes) => bytes.map((byte, i) => (i === 20 ? byte ^ 64 : byte))],
])('sources that are %s', (_how, by) => {
  const list = ({ reader }: Store, scope: { accountId: string; domainId: string }) =>
    readSources(reader, scope, { range, failingOnly: false, limit: 10, offset: 0 });

  test('of a day are messages of nobody on pages, until a page has them counted again', async () => {
    const { store, scope } = await twoDays();
    await damageDay(store, by);
    const found = await list(store, scope);
    expect(found).toMatchObject({ messages: 10, unlisted: 5, damaged: ['2026-03-10'] });
    expect(found.sources.map(({ address }) => address)).toEqual([OTHER]);
    const one = await readSource(store.reader, scope, { address: MAILER, range });
    expect(one.days).toEqual([]);
    expect(await findLastDay(store.reader, { ...scope, address: OTHER })).toBe('2026-03-11');
    await repairDays(store.db, { ...scope, days: found.damaged });
    expect(await list(store, scope)).toMatchObject({ total: 2, unlisted: 0, damaged: [] });
    await holdSources(store.db);
  });

  test('of a day are counted again when a report of the day comes in', async () => {
    const { store, scope } = await twoDays();
    await damageDay(store, by);
    await receive(store.db, [aReportFrom(OTHER, '10')]);
    expect(await list(store, scope)).toMatchObject({ total: 2, messages: 15, unlisted: 0 });
    await holdSources(store.db);
  });

  test('of a day do not keep a report of the day from being removed', async () => {
    const { store, scope } = await twoDays();
    const report = aReportFrom(OTHER, '10');
    await receive(store.db, [report]);
    await damageDay(store, by);
    await removeReport(store.db, toReportId(report), NOW);
    const { messages, damaged } = await list(store, scope);
    expect([messages, damaged]).toEqual([10, ['2026-03-10']]);
    await repairDays(store.db, { ...scope, days: damaged });
    await holdSources(store.db);
  });
});
