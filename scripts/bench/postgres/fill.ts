import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { toInstant } from '../../../src/domain/instant.ts';
import { insertAccount } from '../../../src/store/accounts/accounts.ts';
import { insertApiKey } from '../../../src/store/accounts/api-keys.ts';
import { insertDomain } from '../../../src/store/domains/domains.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import { SESSION } from '../../../src/store/engine/postgres/values.ts';
import { accountReportList } from '../../../src/store/lists/timeline.ts';
import type { BenchDatabase } from '../databases.ts';

/** Three years, as in the databases on SQLite. */
const FIRST_DAY = '2023-01-01';
const DAYS = 1_095;
/** Positions of a row of `account_arrival`, as intake makes it. */
const ROW = 50;

/** The same, made once: `BENCH_FOLDER` keeps what the next run has to know of the database. */
export async function openPostgresDatabase(url: string, reports: number): Promise<BenchDatabase> {
  const folder = process.env['BENCH_FOLDER'];
  if (folder === undefined) return await fillPostgres(url, reports);
  const note = join(folder, `postgres-${reports}.json`);
  const known = await readFile(note, 'utf8').then(JSON.parse, () => undefined);
  const database = known ?? (await fillPostgres(url, reports));
  await writeFile(note, JSON.stringify(database));
  return database;
}

/**
 * An account with one domain and this many reports. The reports are made by the server: storing a million of
 * them through the product takes too long for a bench.
 */
async function fillPostgres(url: string, reports: number): Promise<BenchDatabase> {
  const store = await openStore(url);
  const now = toInstant(new Date());
  const { id: accountId } = await insertAccount(store.db, { name: `${reports}`, plan: 'pro', now });
  const { key } = await insertApiKey(store.db, { accountId, name: 'bench', now });
  const name = `of-${reports}.example`;
  const { id: domainId } = await insertDomain(store.db, { accountId, name, now });
  await store.close();
  const client = new pg.Client({ connectionString: url, options: SESSION });
  await client.connect();
  for (const statement of toStatements({ accountId, domainId, reports, now }))
    await client.query(statement);
  await client.end();
  return { path: url, reports, key, domainId };
}

interface Wanted {
  readonly accountId: string;
  readonly domainId: string;
  readonly reports: number;
  readonly now: string;
}

function toStatements({ accountId, domainId, reports, now }: Wanted): string[] {
  return [
    `insert into document (input_sha256, path, input_name, input_bytes, received_at)
      values ('${domainId}'::text::bytea, '', 'bench', 0, '${now}')`,
    `insert into report (id, domain_id, document_seq, received_at, reporter_org,
        reporter_email, report_id, begin_date, end_date, record_count, total_messages,
        aligned_messages, payload_sha256, warnings, content, position, nonce, account_seq)
      select gen_random_uuid(), '${domainId}', (select max(seq) from document), '${now}',
        'Reporter ' || n % 8 || '.example', 'dmarc-reports@' || n % 8 || '.example', n,
        day + time '00:00:00', day + time '23:59:59', 1 + n % 10, 10 + n % 990, n % 11,
        substr(sha256(n::text::bytea), 1, 16), '[]', '', n, 'bench',
        (select seq from account where id = '${accountId}')
      from (select n, date '${FIRST_DAY}' + (n::bigint * ${DAYS} / ${reports + 1})::int as day
        from generate_series(1, ${reports}) as n) as made`,
    `insert into domain_day (domain_id, day, reports, messages, aligned)
      select '${domainId}', date(begin_date), count(*), 0, 0 from report where domain_id = '${domainId}' group by 2`,
    `update domain set reports_total = ${reports}, reports_version = 'bench${reports}',
      reports_position = ${reports}, reports_nonce = 'bench' where id = '${domainId}'`,
    `insert into list_day (list_id, day, items)
      select '${accountReportList(accountId)}', day, reports from domain_day where domain_id = '${domainId}'`,
    `insert into account_arrival (account_seq, position, domain_seq, domain_position, length)
      select account.seq, position, domain.seq, position, ${ROW}
      from domain join account on account.id = account_id,
        generate_series(${ROW}, ${reports}, ${ROW}) as position`,
    `update account set reports_total = ${reports}, reports_version = 'account${reports}',
      reports_position = ${reports}, reports_nonce = 'bench' where id = '${accountId}'`,
    'vacuum analyze',
  ];
}
