import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { type Api, startApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aReport,
  NOW,
  receive,
  resolveAlert,
} from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { aDatabase, backUp } from '../support/store.ts';
import { listSamplePages } from './pages.ts';

/* The programs of the guide that follow, over pauses, removals and a restore: their copies against the tables or the lists. */

const PROGRAMS = listSamplePages().flatMap(({ steps }) => steps.flatMap((step) => step.programs));

/** A program that prints its copy at a signal. The guide's follows alerts; its loop is also tried on reports. */
const FOLLOWERS = {
  node: {
    files: ['plumbline.mjs', 'poll.mjs'],
    tell: 'page.data.forEach(tell);',
    print: `process.on('SIGUSR2', () => console.log('copy', JSON.stringify([...copy.values()])));\n`,
  },
  python3: {
    files: ['plumbline.py', 'poll.py'],
    tell: '                tell(alert)\n',
    print: `import json, signal
signal.signal(signal.SIGUSR2, lambda *_: print("copy", json.dumps(list(copy.values())), flush=True))\n`,
  },
} as const;

type Language = keyof typeof FOLLOWERS;
const LANGUAGES = Object.keys(FOLLOWERS) as Language[];

test.each(LANGUAGES)(
  '%s: the copies equal the tables after a removal, a failure of the server and a restore',
  { timeout: 240_000 },
  async (language) => {
    const database = await aDatabase();
    const world = await aWorld(database);
    const { kept, gone, accountId } = world;
    const reports = await aFollower(language, world, {
      list: `/v1/external/domains/${kept.id}/reports`,
      parameter: 'received_after',
    });
    const alerts = await aFollower(language, world);
    /** Both copies, and the tables. */
    const holdCopies = async () => {
      const { db } = world.store();
      await expect.poll(() => toFigures(reports)).toEqual(await listReports(db, kept.id));
      await expect.poll(() => toStates(alerts)).toEqual(await listAlerts(db));
    };
    await holdCopies();

    const { db } = world.store();
    await removeReport(db, toReportId(world.report), NOW);
    await removeDomain(db, gone.id);
    await holdCopies();

    await world.stop();
    const restore = await backUp(database);
    await world.start();
    await fill(world.store().db, { accountId, domain: kept }, 'lost');
    await holdCopies();

    await world.stop();
    await restore();
    await world.start();
    await fill(world.store().db, { accountId, domain: kept }, 'instead');
    await holdCopies();
  },
);

/** The guide's programs that copy an account by its feed. Instead of adding up at the end, they print their copy and go on. */
const COPIERS = {
  node: {
    files: ['plumbline.mjs', 'copy.mjs'],
    end: /await follow\(\);\n\nfor[\s\S]*?\n}\n/,
    loop: `const tell = () => console.log(JSON.stringify(Object.values(copy).map((items) => [...items.keys()].sort())));
for (;;) {
  await follow().then(tell, () => undefined);
  await new Promise((done) => setTimeout(done, 1000));
}
`,
  },
  python3: {
    files: ['plumbline.py', 'copy_account.py'],
    end: /\nfollow\(\)\nfor domain[\s\S]*$/,
    loop: `
import json, time
while True:
    try:
        follow()
        print(json.dumps([sorted(items) for items in copy.values()]), flush=True)
    except Exception:
        pass
    time.sleep(1)
`,
  },
} as const;

import { isOfDomain } from '../../src/store/lists/heads.ts';

test.each(LANGUAGES)(
  '%s: the copy of the feed equals the lists after a pause, removals and a restore',
  { timeout: 240_000 },
  async (language) => {
    const database = await aDatabase();
    const world = await aWorld(database);
    const { kept, gone, accountId } = world;
    const last = await aCopier(language, world);
    const holdCopy = async () => {
      const wanted = await Promise.all(
        ['domains', 'reports', 'alerts'].map((l) => listIds(world, l)),
      );
      await expect.poll(last).toEqual(wanted);
    };
    await holdCopy();

    const { db } = world.store();
    await updateDomainStatus(db, kept.id, 'paused', NOW);
    await holdCopy();
    await updateDomainStatus(db, kept.id, 'active', NOW);
    await removeReport(db, toReportId(world.report), NOW);
    await removeDomain(db, gone.id);
    await holdCopy();

    await world.stop();
    const restore = await backUp(database);
    await world.start();
    await fill(world.store().db, { accountId, domain: kept }, 'lost');
    await holdCopy();

    await world.stop();
    await restore();
    await world.start();
    await fill(world.store().db, { accountId, domain: kept }, 'instead');
    await holdCopy();
  },
);

type Db = Store['db'];
type Domain = Awaited<ReturnType<typeof aDomain>>;

/** A server that can be stopped and started at one address, with reports and alerts of two domains. */
async function aWorld(database: string) {
  const first = await openStore(database);
  const { id: accountId, key } = await anAccount(first.db);
  const [kept, gone] = [await aDomain(first.db, accountId), await aDomain(first.db, accountId)];
  const report = aReport({ domain: kept.name });
  await receive(first.db, [report, aReport({ domain: kept.name })]);
  for (const { id: domainId } of [kept, gone]) await anAlert(first.db, { accountId, domainId });
  await first.close();

  let api: Api | undefined;
  const proxy = createServer((socket) => {
    socket.on('error', () => undefined);
    if (api === undefined) return void socket.destroy();
    const server = connect(api.port, '127.0.0.1').on('error', () => socket.destroy());
    socket.pipe(server).pipe(socket);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const start = async () => {
    api = await startApi({ store: await openStore(database) });
  };
  const stop = async () => {
    const running = api;
    api = undefined;
    await running?.close();
  };
  onTestFinished(async () => {
    proxy.close();
    await stop();
  });
  await start();
  const { port } = proxy.address() as AddressInfo;
  return { accountId, key, kept, gone, report, port, start, stop, store: () => (api as Api).store };
}

/** Other reports and alerts in each call; the copy has them in other numbers. */
async function fill(
  db: Db,
  { accountId, domain }: { readonly accountId: string; readonly domain: Domain },
  name: 'lost' | 'instead',
): Promise<void> {
  const count = name === 'lost' ? 3 : 2;
  const ids = Array.from({ length: count }, (_, i) => `${name} ${i}`);
  for (const reportId of ids) await receive(db, [aReport({ domain: domain.name, reportId })]);
  const [open] = await db
    .selectFrom('alert')
    .select('id')
    .where('resolved_at', 'is', null)
    .execute();
  await resolveAlert(db, open?.id ?? '', `2026-04-0${count}T00:00:00Z`);
  for (const type of ids.map((id) => `alert.${id.replace(' ', '_')}`))
    await anAlert(db, { accountId, domainId: domain.id }, { type });
}

interface Item {
  readonly id: string;
  readonly total_messages: number;
  readonly resolved_at: string | null;
}

/** Returns what reads its copy, once it has printed it. */
async function aFollower(
  language: Language,
  { port, key }: { readonly port: number; readonly key: string },
  { list = '/v1/external/alerts', parameter = 'changed_after' } = {},
) {
  const { files, tell, print } = FOLLOWERS[language];
  const folder = await aFolder();
  const [library, program] = files;
  await writeFile(join(folder, library), textOf(library));
  const text = textOf(program);
  for (const part of ['/v1/external/alerts', 'changed_after', tell]) expect(text).toContain(part);
  const followed = text.replace('/v1/external/alerts', list).replace('changed_after', parameter);
  const isOfAlerts = parameter === 'changed_after';
  await writeFile(
    join(folder, program),
    print + (isOfAlerts ? followed : followed.replace(tell, '')),
  );
  const child = spawn(language, [program, '1000', '1'], {
    cwd: folder,
    stdio: OUTPUT,
    env: toEnv(port, key),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  // The signal would end it before it has said what to do.
  await expect.poll(() => printed).toMatch(isOfAlerts ? /^open/ : /^Nothing has changed/);
  return { child, printed: () => printed };
}

/** Returns what it has printed last: the ids of its domains, reports and alerts. */
async function aCopier(
  language: Language,
  { port, key }: { readonly port: number; readonly key: string },
) {
  const { files, end, loop } = COPIERS[language];
  const folder = await aFolder();
  const [library, program] = files;
  await writeFile(join(folder, library), textOf(library));
  const text = textOf(program);
  expect(text).toMatch(end);
  await writeFile(join(folder, program), text.replace(end, loop));
  const child = spawn(language, [program], { cwd: folder, stdio: OUTPUT, env: toEnv(port, key) });
  onTestFinished(() => void child.kill('SIGKILL'));
  let line = '[]';
  child.stdout.on('data', (chunk) => {
    line = String(chunk).trim().split('\n').at(-1) ?? line;
  });
  return () => JSON.parse(line);
}

const OUTPUT = ['ignore', 'pipe', 'ignore'] as const satisfies StdioOptions;

const toEnv = (port: number, key: string) => ({
  PATH: process.env['PATH'],
  PLUMBLINE_BASE_URL: `http://127.0.0.1:${port}`,
  PLUMBLINE_API_KEY: key,
});

async function listIds(
  { port, key }: { readonly port: number; readonly key: string },
  list: string,
): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/external/${list}?limit=200`, { headers });
  const { data } = (await answer.json()) as { readonly data: readonly Item[] };
  return data.map(({ id }) => id).sort();
}

type Follower = Awaited<ReturnType<typeof aFollower>>;

async function readCopy({ child, printed }: Follower): Promise<readonly Item[]> {
  const before = printed().length;
  child.kill('SIGUSR2');
  await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
  const line = /^copy (.*)$/m.exec(printed().slice(before))?.[1] ?? '[]';
  return JSON.parse(line);
}

async function toFigures(follower: Follower): Promise<string[]> {
  return (await readCopy(follower))
    .map(({ id, total_messages }) => `${id} ${total_messages}`)
    .sort();
}

async function toStates(follower: Follower): Promise<string[]> {
  return (await readCopy(follower)).map(({ id, resolved_at }) => `${id} ${resolved_at}`).sort();
}

async function listReports(db: Db, domainId: string): Promise<string[]> {
  const reports = db.selectFrom('report').select(['id', 'total_messages']);
  const rows = await reports.where(isOfDomain(domainId)).execute();
  return rows.map(({ id, total_messages }) => `${id} ${total_messages}`).sort();
}

async function listAlerts(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('alert').select(['id', 'resolved_at']).execute();
  return rows.map(({ id, resolved_at }) => `${id} ${resolved_at}`).sort();
}

function textOf(name: string): string {
  const program = PROGRAMS.find(({ file }) => file === name);
  if (program === undefined) throw new Error(`The guides have no ${name}.`);
  return program.text;
}
