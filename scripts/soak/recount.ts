import Database from 'better-sqlite3';

/** Pairs of a stored count and the same count computed from the rows. A row in only one of them is wrong. */
const COUNTS: Readonly<Record<string, readonly [kept: string, counted: string]>> = {
  days: [
    'select domain_id, day, sum(reports), sum(messages), sum(aligned) from domain_day group by 1, 2',
    `select domain.id, date(begin_date), count(*), sum(total_messages), sum(aligned_messages)
     from report join domain on domain.seq = domain_seq group by 1, 2`,
  ],
  heads: [
    'select seq, reports_total from domain where reports_total > 0',
    'select domain_seq, count(*) from report group by 1',
  ],
  listed: [
    'select seq, reports_total from account where reports_total > 0',
    'select account_seq, count(*) from report where account_seq is not null group by 1',
  ],
  changes: [
    'select seq, changes from account',
    'select account_seq, max(number) from change group by 1',
  ],
  domains: [
    'select id, domains_total from account where domains_total > 0',
    "select account_id, count(*) from domain where account_id is not null and status = 'active' group by 1",
  ],
};

/** How many reports a database has, and which of its stored counts differ from its rows. */
export function recount(path: string): { readonly reports: number; readonly wrong: string[] } {
  const database = new Database(path, { readonly: true });
  const wrong: string[] = [];
  for (const [name, [kept, counted]] of Object.entries(COUNTS)) {
    for (const [one, other] of [
      [kept, counted],
      [counted, kept],
    ]) {
      const rows = database.prepare(`select * from (${one} except ${other}) limit 1`).all();
      if (rows.length > 0) wrong.push(`${name} ${JSON.stringify(rows[0])}`);
    }
  }
  const reports = database.prepare('select count(*) from report').pluck().get() as number;
  database.close();
  return { reports, wrong };
}
