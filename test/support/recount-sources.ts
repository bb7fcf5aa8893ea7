import { expect } from 'vitest';
import type { ReportRecord } from '../../src/domain/reports/aggregate-report.ts';
import { addToTally, EMPTY_TALLY, passesDmarc } from '../../src/domain/reports/alignment.ts';
import { toBelief } from '../../src/domain/reports/authentication.ts';
import { unpackContent } from '../../src/domain/reports/report-content.ts';
import { toPattern } from '../../src/domain/reports/source-pattern.ts';
import type { DaySource } from '../../src/domain/sources/day-sources.ts';
import { IS_DMARC } from '../../src/store/days/believed.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { DOMAIN_ID } from '../../src/store/lists/heads.ts';
import { listDays } from './day-sources.ts';

/** Numbers by what they count, as text. */
type Counts = Map<string, number>;

/** Fails when a day's sources, kept or counted, are not what the stored records of the day's reports add up to. */
export async function holdSources(db: Db): Promise<void> {
  const right: Counts = new Map();
  const reports = db.selectFrom('report').selectAll().select(DOMAIN_ID.as('domain_id'));
  for (const report of await reports.where(IS_DMARC).execute()) {
    const { records, others } = unpackContent(report.content);
    const totals = records.reduce(addToTally, { ...EMPTY_TALLY, ...others });
    const { record_count, total_messages, aligned_messages } = report;
    expect(Object.values(totals).slice(0, 3)).toEqual([
      ...[record_count, total_messages, aligned_messages],
    ]);
    const belief = toBelief(report.doubt);
    const day = `${report.domain_id} ${report.begin_date.slice(0, 10)} ${belief}`;
    const reporter = report.reporter_org ?? (report.reporter_email?.replace(/^.*@/, '') || null);
    for (const record of records) addRecord(right, record, { day, reporter });
  }
  expect(await countStored(db, 'sources')).toEqual(right);
  expect(await countStored(db, 'counted')).toEqual(right);
}

function addRecord(
  counts: Counts,
  record: ReportRecord,
  { day, reporter }: { readonly day: string; readonly reporter: string | null },
): void {
  const { sourceIp, count, policyEvaluated } = record;
  const aligned = passesDmarc(policyEvaluated) ? count : 0;
  const of = `${day} ${sourceIp}`;
  add(counts, `${of}: messages`, count);
  add(counts, `${of}: aligned`, aligned);
  add(counts, `${of}: dkimAligned`, policyEvaluated.dkim === 'pass' ? count : 0);
  add(counts, `${of}: spfAligned`, policyEvaluated.spf === 'pass' ? count : 0);
  add(counts, `${of}: pattern ${toPattern(record)}`, count);
  add(counts, `${of}: reporter ${reporter}`, count);
  add(counts, `${of}: aligned, reporter ${reporter}`, aligned);
}

function add(counts: Counts, what: string, by: number): void {
  counts.set(what, (counts.get(what) ?? 0) + by);
}

async function countStored(db: Db, which: 'sources' | 'counted'): Promise<Counts> {
  const stored: Counts = new Map();
  for (const { domain_id, day, belief, [which]: sources } of await listDays(db))
    for (const { address, patterns, reporters, ...counts } of sources as readonly DaySource[]) {
      const of = `${domain_id} ${day} ${belief} ${address}`;
      for (const [name, count] of Object.entries(counts)) stored.set(`${of}: ${name}`, count);
      for (const [text, messages] of patterns) stored.set(`${of}: pattern ${text}`, messages);
      for (const [name, { messages, aligned }] of reporters) {
        stored.set(`${of}: reporter ${name}`, messages);
        stored.set(`${of}: aligned, reporter ${name}`, aligned);
      }
    }
  return stored;
}
