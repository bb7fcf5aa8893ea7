import Database from 'better-sqlite3';

/** Pairs of a stored count and the same count computed from the rows. A row in only one of them is wrong. */
const COUNTS: Readonly<Record<string, readonly [kept: string, counted: string]>> = {
  days: [
    'select domain_id, day, reports, messages, aligned from domain_day',
    `select domain_id, date(begin_date), count(*), sum(total_messages), sum(aligned_messages)
     from report group by 1, 2`,
  ],
  heads: [
    'select id, reports_total from domain where reports_total > 0',
    'select domain_id, count(*) from report group by 1',
  ],
  receipts: [
    'select domain_id, day, reports from domain_receipt',
    'select domain_id, date(received_at), count(*) from report group by 1, 2',
  ],
  arrivals: [
    'select id, reports_position - reports_total from domain',
    `select id, (select count(*) from list_gap where list_id = domain.id)
      + (select min(position) from list_point where list_id = domain.id) from domain`,
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
