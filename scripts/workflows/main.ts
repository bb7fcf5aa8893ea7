/**
 * Runs the workflows of openapi/workflows.arazzo.yaml as they stand, against a live server: `npm run workflows`.
 *
 * The server is the demo's, in a process of its own, on a database that another process can write to. While the
 * last workflow waits for its alert to resolve, the report that ends the alert's reason is ingested by the command
 * that operators use; whether and when the alert resolves is for the alert engine to say.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { toFile } from '../demo/reports.ts';
import { DOMAINS, REPORTERS } from '../demo/traffic.ts';
import { runRespect } from './respect.ts';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const DAY_MS = 86_400_000;
/** What respect says while a workflow waits. */
const WAITING = /Retrying step/;

const folder = await mkdtemp(join(tmpdir(), 'plumbline-workflows-'));
const demo = plumbline('demo', '--json');
try {
  const [started] = await once(createInterface({ input: demo.stdout }), 'line');
  const { url, key, account_id: accountId } = JSON.parse(started);
  // As a new domain is: it waits for its first report, and has an empty list.
  await run('domain', ['add', accountId, 'waiting.example']);
  let mended: Promise<void> | undefined;
  const onOutput = (text: string) => {
    process.stdout.write(text);
    if (WAITING.test(text)) mended ??= run('ingest', ['-'], aGoodDay());
  };
  const { status } = await runRespect({ url, key, onOutput });
  await mended;
  process.exitCode = status ?? 1;
} finally {
  demo.kill();
  await once(demo, 'close');
  await rm(folder, { recursive: true });
}

/** The demo keeps its database beside the one that is configured. */
function plumbline(command: string, ...args: string[]) {
  const database = join(folder, command === 'demo' ? 'plumbline.db' : 'demo.db');
  return spawn(process.execPath, [CLI, command, ...args], {
    env: {
      ...process.env,
      PLUMBLINE_DATABASE: database,
      PLUMBLINE_PORT: '0',
      PLUMBLINE_LOG_LEVEL: 'warn',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function run(command: string, args: readonly string[], input?: Uint8Array): Promise<void> {
  const child = plumbline(command, ...args);
  child.stdout.resume();
  child.stdin.end(input);
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`plumbline ${command} ended with ${status}`);
}

/** A report about today, on which the sender whose signatures were broken yesterday has mended them. */
function aGoodDay(): Uint8Array {
  const [, shop] = DOMAINS;
  const [reporter] = REPORTERS;
  if (shop === undefined || reporter === undefined) throw new Error('The demo has changed.');
  const day = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  return toFile(shop, reporter, { day, daysAgo: 0 }).bytes;
}
