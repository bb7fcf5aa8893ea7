import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import type { Doubt } from '../../src/domain/reports/authentication.ts';
import { planReceipts } from '../../src/store/alerts/receipts.ts';
import type { Tx } from '../../src/store/engine/database.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const [FIRST, NOON] = ['2026-01-01', 'T12:00:00Z'];

async function insertReports(
  tx: Tx,
  domainId: string,
  reports: readonly {
    readonly place: number;
    readonly day: number;
    readonly doubt: Doubt | null;
  }[],
): Promise<void> {
  const domain = tx.selectFrom('domain').select('seq').where('id', '=', domainId);
  const { seq: domain_seq } = await domain.executeTakeFirstOrThrow();
  const rows = reports.map(({ place, day, doubt }) => {
    const at = `${addDays(FIRST, day)}${NOON}`;
    return {
      ...{ id: randomUUID(), domain_seq, doubt, nonce: 'AAAAAAAA', revision: 1 },
      ...{ begin_date: at, end_date: at, received_at: at, document_seq: place },
      ...{ reporter_org: null, reporter_email: null, report_id: `${place}` },
      ...{ record_count: 0, total_messages: 0, aligned_messages: 0, warnings: '[]' },
      ...{ dkim_aligned: 0, spf_aligned: 0, quarantined: 0, rejected: 0, otherwise: 0 },
      ...{ payload_sha256: randomBytes(16), content: Buffer.alloc(0) },
    };
  });
  for (let i = 0; i < rows.length; i += 500)
    await tx
      .insertInto('report')
      .values(rows.slice(i, i + 500))
      .execute();
}

/** A genuine report on each of the first days, and then so many of strangers, on the days after. */
async function aDomainWith(genuine: number, strangers: number) {
  const { db, reader } = await aStore();
  const { id: domainId } = await aDomain(db, await aBareAccount(db));
  const reports = Array.from({ length: genuine + strangers }, (_, i) => {
    const day = i < genuine ? i : genuine + Math.floor((i - genuine) / 1_000);
    return { place: i + 1, day, doubt: i < genuine ? null : ('unproven' as const) };
  });
  await db.write((tx) => insertReports(tx, domainId, reports));
  const view = 'established' as const;
  return await reader.readPlan(() => planReceipts({ domainId, view, windowDays: 3 }));
}

describe('receipts of established reporters', () => {
  test('are those before the reports of strangers', async () => {
    const { lastReportAt, receipts } = await aDomainWith(5, 700);
    expect(lastReportAt).toBe(`2026-01-05${NOON}`);
    expect(receipts).toEqual([1, 2, 3, 4, 5].map((n) => ({ day: `2026-01-0${n}`, reports: 1 })));
  });

  test('are none when the newest 5,000 are of strangers: the last was before the oldest of these', async () => {
    const { lastReportAt, receipts } = await aDomainWith(1, 6_000);
    expect(receipts).toEqual([]);
    expect(lastReportAt).toBe(`2026-01-03${NOON}`);
  });

  test('are not read further back than the window', async () => {
    const { receipts } = await aDomainWith(1_200, 0);
    expect(receipts).toHaveLength(500);
    expect(receipts.at(-1)).toEqual({ day: addDays(FIRST, 1_199), reports: 1 });
  });
});
