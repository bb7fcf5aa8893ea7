/**
 * A list of a million reports is pruned to half while clients page and follow: `npm run bench -- pruning`, or with another
 * number of reports. Every page is compared with what it was before, less what has gone, and every copy of a follower with
 * the lists. Prints how long answers took, beside the same server before, and how much smaller the file is.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../../src/store/engine/open.ts';
import { verify } from '../../../src/store/verify/verify.ts';
import { seed } from '../../seed.ts';
import { type Latencies, percentile, poll } from '../beside/poll.ts';
import { print } from '../print.ts';
import { startPlumbline } from '../race.ts';
import { follow } from './followers.ts';
import { recordPages, type Seen } from './pages.ts';

const REPORTS = 1_000_000;
const DOMAINS = 10;
const FOLLOWERS = 3;
const IDLE_MS = 30_000;
/** Half of the three years that are seeded. */
const FIRST_KEPT = Date.UTC(2024, 6, 1);
const DAY_MS = 86_400_000;
const BIN = fileURLToPath(new URL('../../../bin/plumbline.js', import.meta.url));

export async function benchPruning(reports = REPORTS): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  try {
    await measure(join(folder, 'pruning.db'), reports);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measure(path: string, reports: number): Promise<void> {
  const store = await openStore(path);
  const { key, domainIds } = await seed(store, { domains: DOMAINS, reports: reports / DOMAINS });
  await store.close();
  const { server } = await startPlumbline({ path }, '32');
  const seen: Seen = { server: server.url, key, domainIds };
  const { requests, counts } = await recordPages(seen);
  print(`${reports} reports: milliseconds until an answer, of 100 pages a second`);
  const idle = await run(seen, requests, sleep(IDLE_MS));
  const bytes = (await stat(path)).size;
  const startedAt = performance.now();
  const busy = await run(seen, requests, prune(path));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  tell('before', idle);
  tell(`while ${seconds} s of pruning`, busy, idle);
  print(`  pages that were compared: ${counts.compared}, of which shorter: ${counts.shorter}`);
  print(`  answers to followers: ${busy.answers}, whole copies: ${busy.copies}`);
  server.stop();
  const mb = (size: number) => `${Math.round(size / 1e6)} MB`;
  print(`  the file: ${mb(bytes)}, then ${mb((await stat(path)).size)}`);
  const pruned = await openStore(path);
  const found = await Array.fromAsync(verify(pruned));
  await pruned.close();
  print(`  wrong figures: ${found.length}`);
}

type Measured = { pages: Latencies; follows: Latencies; answers: number; copies: number };

async function run(
  seen: Seen,
  requests: Parameters<typeof poll>[0],
  until: Promise<unknown>,
): Promise<Measured> {
  let isOver = false;
  const over = until.finally(() => {
    isOver = true;
  });
  const followers = seen.domainIds
    .slice(0, FOLLOWERS)
    .map((domainId) => follow(seen, domainId, () => isOver));
  const [pages, ...copies] = await Promise.all([poll(requests, over), ...followers]);
  const ascending = (all: readonly number[]) => all.toSorted((a, b) => a - b);
  const follows = ascending(copies.flatMap(({ latencies }) => latencies));
  return {
    pages: ascending(pages.flat()),
    follows,
    answers: follows.length,
    copies: copies.reduce((sum, one) => sum + one.copies, 0),
  };
}

async function prune(path: string): Promise<void> {
  const days = Math.floor((Date.now() - FIRST_KEPT) / DAY_MS);
  const env = {
    ...process.env,
    PLUMBLINE_DATABASE: path,
    PLUMBLINE_KEEP_REPORTS_DAYS: String(days),
  };
  const child = spawn(process.execPath, [BIN, 'prune'], { env, stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`plumbline prune ended with ${status}.`);
}

function tell(when: string, measured: Measured, base?: Measured): void {
  for (const kind of ['pages', 'follows'] as const) {
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(measured[kind], share)) as [
      number,
      number,
    ];
    const times =
      base === undefined ? '' : `, ${(p99 / percentile(base[kind], 0.99)).toFixed(2)} ×`;
    print(`  ${when}, ${kind}: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}${times}`);
  }
}
