import { describe, expect, test } from 'vitest';
import { toBytes } from '../../src/domain/hex.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import type { Db } from '../../src/store/engine/database.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { toReport } from '../../src/store/reports/conflicts.ts';
import {
  preferConflict,
  removeConflict,
  removeReport,
} from '../../src/store/reports/corrections.ts';
import {
  aBareAccount,
  aDomain,
  aReport,
  aReportOf,
  NOW,
  receive,
  recordsOf,
} from '../support/builders.ts';
import { listSources } from '../support/day-sources.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore } from '../support/store.ts';

/** What one address sent. */
interface Sent {
  readonly address: string;
  readonly messages: number;
  readonly aligned: number;
}

interface Wanted {
  readonly domain?: string;
  readonly reportId?: string;
  readonly begin?: string;
  readonly sources?: readonly Sent[];
}

/** A content whose records are those of its sources; another variant is another content of the same report. */
function aContent(variant: string, { sources = [], ...wanted }: Wanted = {}): AggregateReport {
  const { domain = 'example.com', reportId = 'one', begin = '2026-03-14T00:00:00Z' } = wanted;
  const payload = [domain, reportId, begin, variant].join(' ');
  const records = sources.flatMap(({ address, messages, aligned }) =>
    recordsOf(address, messages, aligned),
  );
  return aReportOf(records, { domain, reportId, begin, payload });
}

const from = (address: string, messages: number, aligned = 0): Sent => ({
  address,
  messages,
  aligned,
});

const OF_GENUINE = [from('192.0.2.1', 90, 90), from('192.0.2.2', 5)];
const OF_FORGED = [from('192.0.2.1', 40), from('203.0.113.9', 700)];
const GENUINE = aContent('genuine', { sources: OF_GENUINE });
const FORGED = aContent('forged', { sources: OF_FORGED });
const ID = toReportId(GENUINE);

const sourcesOf = listSources;

const dayOf = (db: Db) => db.selectFrom('domain_day').selectAll().execute();

/** A claimed domain whose forged report came before the genuine one. */
async function aForgery(store: Store): Promise<Db> {
  const { db } = store;
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  expect(await receive(db, [FORGED], '2026-03-15T01:00:00Z')).toEqual(['stored']);
  expect(await receive(db, [GENUINE], '2026-03-16T01:00:00Z')).toEqual(['conflict']);
  return db;
}

describe('a conflict that is preferred', () => {
  test('replaces the forged report that came first, in all counts', async () => {
    const store = await aStore();
    const db = await aForgery(store);
    await preferConflict(db, 1);
    const [report] = await db.selectFrom('report').selectAll().execute();
    expect(report).toMatchObject({ id: ID, total_messages: 95, aligned_messages: 90 });
    expect(report).toMatchObject({
      payload_sha256: toBytes(GENUINE.payloadSha256),
      document_seq: 2,
    });
    const [conflict] = await db.selectFrom('conflict').selectAll().execute();
    expect(conflict).toMatchObject({
      payload_sha256: toBytes(FORGED.payloadSha256),
      document_seq: 1,
    });
    expect(await sourcesOf(db)).toEqual(OF_GENUINE);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('and preferred again restores the former state', async () => {
    const db = await aForgery(await aStore());
    const readReports = async () => {
      const rows = await db.selectFrom('report').selectAll().execute();
      // Clients that follow a list meet a corrected report again.
      return rows.map(({ seq, number, nonce, revision, ...row }) => row);
    };
    const read = async () => [
      await sourcesOf(db),
      await dayOf(db),
      await readReports(),
      (await db.selectFrom('conflict').selectAll().execute()).map(toReport),
    ];
    const before = await read();
    await preferConflict(db, 1);
    await preferConflict(db, 1);
    expect(await read()).toEqual(before);
  });

  test('and received again changes nothing: it is the duplicate, the forged one the conflict', async () => {
    const db = await aForgery(await aStore());
    await preferConflict(db, 1);
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['conflict', 'duplicate']);
    expect(await listMiscounts(db)).toEqual({});
  });
});

describe('a report that is removed', () => {
  test('is subtracted from every count, and is not stored when it comes in again', async () => {
    const { db } = await aStore();
    const ofOther = [from('192.0.2.1', 3, 3)];
    const other = aContent('other', { reportId: 'two', sources: ofOther });
    await receive(db, [other], '2026-03-14T01:00:00Z');
    await receive(db, [FORGED], '2026-03-15T01:00:00Z');
    await removeReport(db, ID, NOW);
    expect(await sourcesOf(db)).toEqual(ofOther);
    expect(await listMiscounts(db)).toEqual({});
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['removed', 'unclaimed']);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('as the only one of its day leaves no day, and no last report', async () => {
    const { db } = await aStore();
    await receive(db, [FORGED]);
    await removeReport(db, ID, NOW);
    for (const table of ['report', 'domain_day'] as const)
      expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
    expect(await listMiscounts(db)).toEqual({});
    expect((await db.selectFrom('document').select('seq').execute()).length).toBe(1);
  });

  test('leaves another one of the same second as the last report', async () => {
    const { db } = await aStore();
    await receive(db, [FORGED], '2026-03-15T01:00:00Z');
    const newer = aContent('newer', { reportId: 'two' });
    await receive(db, [newer], '2026-03-15T01:00:00Z');
    await removeReport(db, ID, NOW);
    expect(await listMiscounts(db)).toEqual({});
    const { last_report_at } = await db
      .selectFrom('domain')
      .select('last_report_at')
      .executeTakeFirstOrThrow();
    expect(last_report_at).toBe('2026-03-15T01:00:00Z');
  });

  test('is replaced by its oldest conflict', async () => {
    const db = await aForgery(await aStore());
    expect(await removeReport(db, ID, NOW)).toMatchObject({ report: ID, replacedBy: 1 });
    expect(await sourcesOf(db)).toEqual(OF_GENUINE);
    expect(await db.selectFrom('conflict').selectAll().execute()).toEqual([]);
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['removed', 'duplicate']);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('from a day whose sum stopped at 2^53 - 1 leaves the exact sum of the others', async () => {
    const { db } = await aStore();
    const totalMessages = Number.MAX_SAFE_INTEGER;
    const huge = aReport({ domain: 'example.com', reportId: 'huge', totalMessages });
    const others = [3, 4].map((messages) =>
      aContent('honest', { reportId: `${messages}`, sources: [from('192.0.2.1', messages)] }),
    );
    await receive(db, [huge, ...others]);
    await removeReport(db, toReportId(huge), NOW);
    expect(await dayOf(db)).toMatchObject([{ reports: 2, messages: 7 }]);
  });
});

test('a removed conflict is not stored again, and changes no count', async () => {
  const db = await aForgery(await aStore());
  const before = await db.selectFrom('domain').selectAll().execute();
  await removeConflict(db, 1);
  expect(await receive(db, [GENUINE])).toEqual(['removed']);
  expect(await db.selectFrom('conflict').selectAll().execute()).toEqual([]);
  expect(await db.selectFrom('domain').selectAll().execute()).toEqual(before);
});
