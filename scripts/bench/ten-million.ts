/**
 * `npm run bench -- ten-million`: what ten million reports of 500 domains of one account take on SQLite. The reports of one
 * domain are ingested, and its rows are copied by SQL for the others, because intake would take hours; `plumbline verify`
 * says whether the copies are right. Originals stay of the reports of the last 90 days, as `PLUMBLINE_KEEP_ORIGINALS_DAYS` has
 * it. `BENCH_REPORTS` makes it smaller; `BENCH_FOLDER` names the folder in which the database and a backup have room.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DAY_MS } from '../../src/domain/instant.ts';
import { ingest, makeOwner, OWN, type Owner, type Ran, run, serve } from './checkout.ts';
import { print } from './compare.ts';
import { type Shape, toDomainName, toMadeReport } from './databases.ts';
import { REPORT, writeFiles } from './files.ts';
import { toDay } from './reports.ts';
import type { Server } from './servers.ts';

const DOMAINS = 500;
const OF_DOMAIN = Math.ceil(Number(process.env['BENCH_REPORTS'] ?? 10_000_000) / DOMAINS);
const SHAPE: Shape = { domains: 1, reporters: 20, records: 3, addresses: 15 };
const DAYS = Math.ceil(OF_DOMAIN / SHAPE.reporters);
const DAYS_WITH_ORIGINALS = 90;
/** A hundredth of the reports. */
const PRUNED_DAYS = Math.max(1, Math.round(DAYS / 100));
const ROUNDS = 21;

export async function benchTenMillion(): Promise<void> {
  const folder = await mkdtemp(join(process.env['BENCH_FOLDER'] ?? tmpdir(), 'ten-million-'));
  try {
    await measure(folder, join(folder, 'plumbline.db'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measure(folder: string, database: string): Promise<void> {
  const names = Array.from({ length: DOMAINS }, (_, i) => toDomainName(i));
  const owner = await makeOwner(OWN, database, names);
  const made = Array.from({ length: OF_DOMAIN }, (_, i) => toMadeReport(SHAPE, i));
  await writeFiles(join(folder, 'files'), made, REPORT);
  await ingest(OWN, join(folder, 'files'), { database, reports: OF_DOMAIN });
  const reports = OF_DOMAIN * DOMAINS;
  const begun = performance.now();
  copyDomains(
    database,
    names.map((name) => owner.domains.get(name) ?? ''),
  );
  print(
    `${reports} reports of ${DOMAINS} domains and ${DAYS} days, copied in ${Math.round((performance.now() - begun) / 1_000)} s`,
  );
  await printSize('database', database, reports);

  await measureRequests(database, owner, reports);
  const backup = join(folder, 'backup.db');
  printRan('backup', await run(OWN, ['backup', backup], { database }));
  await rm(backup);
  const keptDays = Math.floor((Date.now() - Date.parse(toDay(PRUNED_DAYS))) / DAY_MS);
  process.env['PLUMBLINE_KEEP_REPORTS_DAYS'] = `${keptDays}`;
  const pruned = await run(OWN, ['prune'], { database });
  printRan(`prune of ${pruned.value.reports} reports`, pruned);
  printRan('verify', await run(OWN, ['verify'], { database }));
}

/** Copies what the first domain has to the others, and adds it up for the account as intake would. */
function copyDomains(database: string, [first = '', ...others]: readonly string[]): void {
  const db = new Database(database);
  // Of one transaction, no new page is written to a journal, and each is written once when the cache has room for it.
  db.pragma('journal_mode = delete');
  db.pragma('synchronous = off');
  db.pragma('cache_size = -4000000');
  const find = (query: string) => db.prepare(query).pluck().get() as number;
  db.exec('begin');
  db.exec(`update document set content = null where seq in
    (select document_seq from report where begin_date < '${toDay(DAYS - DAYS_WITH_ORIGINALS)}')`);
  const last = {
    document: find('select max(seq) from document'),
    report: find('select max(seq) from report'),
    /** The last number of a change before those of the reports, and the last of all. */
    before: find('select min(number) - 1 from report'),
    change: find('select changes from account'),
  };
  const taken = last.change - last.before;
  const copyTo = (id: string, i: number) => {
    const seqOf = (domain: string) => `(select seq from domain where id = '${domain}')`;
    copyRows(db, 'document', `seq <= ${last.document}`, {
      seq: `seq + ${i * last.document}`,
      input_sha256: 'randomblob(16)',
    });
    copyRows(db, 'report', `domain_seq = ${seqOf(first)}`, {
      seq: `seq + ${i * last.report}`,
      document_seq: `document_seq + ${i * last.document}`,
      number: `number + ${i * taken}`,
      id: RANDOM_ID,
      domain_seq: seqOf(id),
      payload_sha256: 'randomblob(16)',
    });
    copyRows(db, 'domain_day', `domain_id = '${first}'`, { domain_id: `'${id}'`, sources: 'null' });
    copyRows(db, 'change', `number > ${last.before} and number <= ${last.change}`, {
      number: `number + ${i * taken}`,
    });
    db.exec(`update domain set (reports_total, last_report_at) =
      (select reports_total, last_report_at from domain where id = '${first}') where id = '${id}'`);
  };
  for (const [i, id] of others.entries()) copyTo(id, i + 1);
  const [all, later] = [others.length + 1, others.length * taken];
  db.exec(`update account set reports_total = reports_total * ${all}, changes = changes + ${later};
    update list_day set items = items * ${all};
    commit`);
  db.pragma('journal_mode = wal');
  db.close();
}

const RANDOM_ID = [8, 4, 4, 4, 12]
  .map((digits) => `lower(hex(randomblob(${digits / 2})))`)
  .join(" || '-' || ");

/** Inserts rows that have these values, as SQL, and all others from the rows that are copied. */
function copyRows(
  db: Database.Database,
  table: string,
  which: string,
  values: Readonly<Record<string, string>>,
): void {
  const names = db.prepare(`select name from pragma_table_info('${table}')`).pluck().all();
  const selected = (names as string[]).map((name) => values[name] ?? name);
  db.exec(`insert into ${table} (${names}) select ${selected} from ${table} where ${which}`);
}

/** Each request is made anew, without pages that are kept. */
async function measureRequests(database: string, owner: Owner, reports: number): Promise<void> {
  const server = await serve(OWN, database, 0);
  const headers = { authorization: `Bearer ${owner.key}` };
  const ask = async (path: string) => {
    const answer = await fetch(`${server.url}/v1/external/${path}`, { headers });
    const { data } = (await answer.json()) as { readonly data?: readonly unknown[] };
    if (!data?.length) throw new Error(`${path} answered ${answer.status}, without an item.`);
    return answer.headers.get('plumbline-cursor') ?? '';
  };
  const domain = `domains/${owner.domains.get(toDomainName(DOMAINS / 2))}`;
  const [from, until] = [toDay(DAYS - 60), toDay(DAYS - 31)];
  const reporter = encodeURIComponent('Mailbox Provider 7');
  const paths = {
    'a page of 200 of a domain, the first': `${domain}/reports?limit=200`,
    'the last one': `${domain}/reports?limit=200&offset=${OF_DOMAIN - 200}`,
    'a page of 200 of the account, the first': 'reports?limit=200',
    'the one in the middle': `reports?limit=200&offset=${reports / 2}`,
    'the last one of the account': `reports?limit=200&offset=${reports - 200}`,
    'of one reporter': `reports?limit=200&reporter=${reporter}`,
    'of one reporter, the last': `reports?limit=200&reporter=${reporter}&offset=${reports / SHAPE.reporters - 200}`,
    'of thirty days': `reports?limit=200&from=${from}&until=${until}`,
    'of thirty days and one reporter': `reports?limit=200&from=${from}&until=${until}&reporter=${reporter}`,
    'sources of thirty days': `${domain}/sources?from=${from}&until=${until}`,
    'days of a year': `${domain}/days?from=${toDay(DAYS - 365)}&until=${toDay(DAYS)}`,
    'the feed from its start, 1,000 changes': 'changes?after=start&limit=1000',
  };
  for (const [what, path] of Object.entries(paths))
    await measureRequest(what, () => ask(path), server);
  let cursor = 'start';
  for (let page = 0; page < 100; page++) cursor = await ask(`changes?limit=1000&after=${cursor}`);
  await measureRequest(
    'the feed after 100,000 changes',
    () => ask(`changes?limit=1000&after=${cursor}`),
    server,
  );
  print(`memory of the server${(await server.usage()).megabytes.toFixed(0).padStart(28)} MB`);
  await server.stop();
}

async function measureRequest(
  what: string,
  ask: () => Promise<unknown>,
  server: Server,
): Promise<void> {
  const times: number[] = [];
  const before = await server.usage();
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    await ask();
    times.push(performance.now() - begun);
  }
  const { micros } = await server.usage();
  const [first = 0] = times;
  const middle = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  const cpu = (micros - before.micros) / ROUNDS / 1_000;
  print(`${what.padEnd(44)} first ${toMs(first)}, median ${toMs(middle)}, CPU ${toMs(cpu)}`);
}

const toMs = (ms: number) => `${ms.toFixed(1)} ms`;

async function printSize(what: string, path: string, reports: number): Promise<void> {
  const { size } = await stat(path);
  print(`${what}: ${(size / 1e9).toFixed(2)} GB, ${Math.round(size / reports)} bytes a report`);
}

function printRan(what: string, { seconds, micros, megabytes }: Ran): void {
  const cpu = (micros / 1e6).toFixed(0);
  print(`${what}: ${seconds.toFixed(0)} s, CPU ${cpu} s, ${megabytes.toFixed(0)} MB of memory`);
}
