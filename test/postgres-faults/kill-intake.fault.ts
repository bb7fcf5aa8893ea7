import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ingest } from '../../src/intake/ingest.ts';
import { listFiles, readFile } from '../../src/intake/inputs/files.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { PLAIN } from '../support/intake.ts';
import { startPostgres } from '../support/postgres.ts';
import { listMiscounts } from '../support/recount.ts';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 100);
/** More than one transaction stores. */
const FILES = 240;
/** Processes that run, and are killed, at the same time. */
const AT_ONCE = 2;
const COMMAND = new URL('../../bin/plumbline.js', import.meta.url).pathname;

/** Files of one report each: ten domains, of which half belong to an account, and several days. */
function writeFiles(folder: string, round: number): void {
  mkdirSync(folder);
  for (let i = 0; i < FILES; i++) {
    const begin = 1_773_446_400 + (i % 7) * 86_400;
    const xml = PLAIN.replace(/<report_id>[^<]*/, `<report_id>${round}-${i}`)
      .replaceAll('example.com', `d${i % 10}.example`)
      .replace(/<begin>\d+/, `<begin>${begin}`)
      .replace(/<end>\d+/, `<end>${begin + 86_399}`);
    writeFileSync(join(folder, `${i}.xml`), xml);
  }
}

function startIngest(database: string, folder: string) {
  return spawn(process.execPath, [COMMAND, 'ingest', '--quiet', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder, PLUMBLINE_DATABASE: database },
  });
}

/** Waits for the end of an ingest that nobody kills, and returns how long it took, in milliseconds. */
async function finish(database: string, folder: string): Promise<number> {
  const from = performance.now();
  const child = startIngest(database, folder);
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [status] = await once(child, 'close');
  expect(status, said).toBe(0);
  return performance.now() - from;
}

/** The same in this process: the command has the lowest priority, so it takes long beside anything else. */
async function ingestAgain({ db }: Store, folder: string): Promise<void> {
  const parser = createParserProcess();
  const given = { db, now: () => new Date(), parser };
  for await (const { outcome, input } of ingest(given, listInputs(folder)))
    expect(['stored', 'unclaimed', 'duplicate'], input).toContain(outcome);
  await parser.close();
}

async function* listInputs(folder: string) {
  for await (const name of listFiles([folder])) yield { name, read: () => readFile(name) };
}

/** The stored reports, of all files or of those in a folder. */
async function countReports({ db }: Store, folder = ''): Promise<number> {
  const { count } = await db
    .selectFrom('report')
    .innerJoin('document', 'document.seq', 'report.document_seq')
    .where('input_name', 'like', `${folder}%`)
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function hasStored(store: Store, folder: string): Promise<void> {
  for (let looked = 0; looked < 3_000 && (await countReports(store, folder)) === 0; looked++)
    await sleep(10);
}

const toPart = (count: number) => (count === 0 ? 'before' : count === FILES ? 'after' : 'middle');

const ENGINES = {
  PostgreSQL: startPostgres,
  // The file is in the folder of the rounds.
  SQLite: async () => undefined,
};

test.each(Object.entries(ENGINES))(
  `%s: intake killed at ${ROUNDS} random moments: what is stored is consistent, and again stores the rest once`,
  async (_, start) => {
    const server = await start();
    const root = mkdtempSync(join(tmpdir(), 'plumbline-kill-'));
    const database = server?.toUrl('postgres') ?? join(root, 'plumbline.db');
    const store = await openStore(database);
    const accountId = await aBareAccount(store.db);
    for (let i = 0; i < 5; i++) await aDomain(store.db, accountId, { name: `d${i}.example` });

    writeFiles(join(root, 'whole'), -1);
    // The first compiles, and the second takes as long as the others will.
    await finish(database, join(root, 'whole'));
    writeFiles(join(root, 'timed'), -2);
    const wholeMs = await finish(database, join(root, 'timed'));

    const met = { before: 0, middle: 0, after: 0 };
    const runRound = async (round: number) => {
      const folder = join(root, `r${round}`);
      writeFiles(folder, round);
      const child = startIngest(database, folder);
      const ended = once(child, 'close');
      // Half of them as soon as something is stored, the others over their life, without the start of Node, in which nothing is.
      if (round % 2 === 0) await hasStored(store, folder);
      else await sleep(wholeMs * (0.2 + Math.random()));
      child.kill('SIGKILL');
      await ended;
      return folder;
    };
    for (let done = 0; done < ROUNDS; done += AT_ONCE) {
      const rounds = Array.from({ length: AT_ONCE }, (_, i) => runRound(done + i));
      const folders = await Promise.all(rounds);
      if (server) await settled(store);
      for (const folder of folders) met[toPart(await countReports(store, folder))] += 1;
      if (done % 10 === 0) expect(await listMiscounts(store.db), `round ${done}`).toEqual({});
    }
    process.stdout.write(
      `${ROUNDS} rounds: killed ${JSON.stringify(met)} the storing of ${FILES} reports\n`,
    );
    expect(met.middle).toBeGreaterThan(0);

    for (const folder of readdirSync(root).filter((name) => !name.includes('.')))
      await ingestAgain(store, join(root, folder));
    expect(await countReports(store)).toBe((ROUNDS + 2) * FILES);
    expect(await store.db.selectFrom('conflict').selectAll().execute()).toEqual([]);
    expect(await listMiscounts(store.db)).toEqual({});
    // Once more changes nothing.
    await ingestAgain(store, join(root, 'r0'));
    expect(await countReports(store)).toBe((ROUNDS + 2) * FILES);
    expect(await listMiscounts(store.db)).toEqual({});
    await store.close();
    await server?.stop();
    rmSync(root, { recursive: true });
  },
);

/** Waits until the server has noticed the death of a client: what it had sent until then may still be committed. */
async function settled({ db }: Store): Promise<void> {
  await expect.poll(() => countOthers(db)).toBe(0);
}

async function countOthers(db: Store['db']): Promise<number> {
  const { rows } = await db.write((tx) =>
    sql<{ count: number }>`select count(*) as count from pg_stat_activity
      where application_name = 'plumbline' and state <> 'idle' and pid <> pg_backend_pid()`.execute(
      tx,
    ),
  );
  return rows[0]?.count ?? 0;
}
