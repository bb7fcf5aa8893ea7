import { describe, expect, onTestFinished, test } from 'vitest';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { removeReport } from '../../src/store/corrections/corrections.ts';
import type { Db } from '../../src/store/engine/database.ts';
import {
  LONG_DETAILS,
  MAX_PATTERNS_OF_DAY,
  parseDetails,
} from '../../src/store/sources/days/details.ts';
import { readSource } from '../../src/store/sources/source.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { openTestStore } from '../support/store.ts';

const ADDRESS = '192.0.2.1';
const DAY = '2026-03-14';
const range = { from: DAY, to: DAY };
const RESULTS = '0,0,"none",null,null';

async function aDomainStore() {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  const accountId = await aBareAccount(store.db);
  const { id: domainId } = await aDomain(store.db, accountId, { name: 'example.com' });
  return { ...store, scope: { accountId, domainId } };
}

/** A report of one address, with the messages of each header-from domain. */
function aReportFrom(messagesOf: Record<string, number>, address = ADDRESS): AggregateReport {
  const patterns = Object.entries(messagesOf).map(([domain, messages]) => ({
    pattern: `["${domain}",${RESULTS}]`,
    messages,
  }));
  const messages = patterns.reduce((sum, pattern) => sum + pattern.messages, 0);
  const report = aReport({
    begin: `${DAY}T00:00:00Z`,
    totalMessages: messages,
    alignedMessages: 0,
  });
  return { ...report, sources: [{ address, messages, aligned: 0, patterns }] };
}

const detailsOf = async (db: Db) => {
  const rows = await db.selectFrom('domain_source_ip').select(['messages', 'details']).execute();
  return rows[0] as { messages: number; details: string };
};

describe('the details of an address', () => {
  test('are short and keep the largest patterns, whatever the number of reports', async () => {
    const { db, reader, scope } = await aDomainStore();
    const large = aReportFrom({ 'large.example': 1_000 });
    const floods = Array.from({ length: 70 }, (_, i) =>
      aReportFrom(
        Object.fromEntries(Array.from({ length: 16 }, (_, k) => [`d${i * 16 + k}.example`, 1])),
      ),
    );
    for (let from = 0; from < 70; from += 10)
      await receive(db, [...(from === 0 ? [large] : []), ...floods.slice(from, from + 10)]);
    const { details, messages } = await detailsOf(db);
    expect(messages).toBe(1_000 + 70 * 16);
    expect(details.length).toBeLessThan(LONG_DETAILS + 32 * 16 * 18);
    expect(parseDetails(details).size).toBeLessThan(MAX_PATTERNS_OF_DAY + 32 * 16);
    const { patterns, otherMessages } = await readSource(reader, scope, {
      address: ADDRESS,
      range,
    });
    expect(patterns[0]).toMatchObject({ header_from: 'large.example', messages: 1_000 });
    const shown = patterns.reduce((sum, pattern) => sum + pattern.messages, 0);
    expect(shown + otherMessages).toBe(messages);
  });

  test('add up the messages of one pattern over the reports of a day', async () => {
    const { db, reader, scope } = await aDomainStore();
    for (let i = 0; i < 3; i++) await receive(db, [aReportFrom({ 'a.example': 2 })]);
    const { patterns } = await readSource(reader, scope, { address: ADDRESS, range });
    expect(patterns).toMatchObject([{ header_from: 'a.example', messages: 6 }]);
  });

  test('of an address that was dropped and counted again are never of more messages than it has', async () => {
    const { db, reader, scope } = await aDomainStore();
    const kept = aReportFrom({ 'a.example': 30, 'b.example': 10 });
    const removed = aReportFrom({ 'a.example': 6 });
    await receive(db, [kept, removed]);
    await db.write((tx) => tx.updateTable('domain_source_ip').set({ messages: 39 }).execute());
    const [id, payloadSha256] = [toReportId(removed), removed.payloadSha256];
    await removeReport(db, { id, payloadSha256, former: removed, next: null }, NOW);
    const { patterns, otherMessages } = await readSource(reader, scope, {
      address: ADDRESS,
      range,
    });
    expect(patterns).toMatchObject([
      { header_from: 'a.example', messages: 30 },
      { header_from: 'b.example', messages: 3 },
    ]);
    expect(otherMessages).toBe(0);
  });

  test('of a report that is removed and cannot be read are subtracted from all patterns of its reporter', async () => {
    const { db, reader, scope } = await aDomainStore();
    const [kept, removed] = [
      aReportFrom({ 'a.example': 20, 'b.example': 5 }),
      aReportFrom({ 'a.example': 6 }),
    ];
    const other = aReportFrom({ 'c.example': 30 });
    const metadata = { ...other.metadata, orgName: 'Other Provider' };
    await receive(db, [kept, removed, { ...other, metadata }]);
    const [id, payloadSha256] = [toReportId(removed), removed.payloadSha256];
    await removeReport(db, { id, payloadSha256, former: null, next: null }, NOW);
    const { days, patterns } = await readSource(reader, scope, { address: ADDRESS, range });
    expect(days).toEqual([{ day: DAY, messages: 55, aligned: 0 }]);
    // Of b.example, all five may have been the removed report's.
    expect(patterns).toMatchObject([
      { header_from: 'c.example', messages: 30 },
      { header_from: 'a.example', messages: 20 },
    ]);
  });
});

test('a month that is full of texts takes no more, and the next one does', async () => {
  const { db, scope } = await aDomainStore();
  const rows = Array.from({ length: 10_000 }, (_, i) => ({
    domain_id: scope.domainId,
    month: '2026-03',
    id: `${i}`,
    text: '""',
  }));
  for (let from = 0; from < rows.length; from += 1_000)
    await db.write((tx) =>
      tx
        .insertInto('source_text')
        .values(rows.slice(from, from + 1_000))
        .execute(),
    );
  await receive(db, [
    aReportFrom({ 'a.example': 5 }),
    {
      ...aReportFrom({ 'b.example': 1 }),
      metadata: aReport({ begin: '2026-04-01T00:00:00Z' }).metadata,
    },
  ]);
  const stored = await db
    .selectFrom('source_text')
    .select(({ fn }) => ['month', fn.countAll<number>().as('texts')])
    .groupBy('month')
    .orderBy('month')
    .execute();
  expect(stored.map(({ month, texts }) => [month, Number(texts)])).toEqual([
    ['2026-03', 10_000],
    ['2026-04', 2],
  ]);
});
