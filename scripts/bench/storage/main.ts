/**
 * What a stored report takes, by table and index, beside its original's own bytes, and the CPU of its intake:
 * `npm run bench -- storage`, `-- storage domain`, `-- storage domains postgres 2000000`. `BENCH_ROOT` names the
 * checkout of another version that is measured instead.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBenchServer } from '../postgres/server.ts';
import { print } from '../print.ts';
import { fill, OWN_ROOT } from './fill.ts';
import type { Filled } from './fill-job.ts';
import type { ShapeName } from './shapes.ts';
import { listSizes, type Size } from './sizes.ts';

const REPORTS = 200_000;
const MEASURED = ['domain', 'domains', 'account'] as const satisfies readonly ShapeName[];
const ENGINES = ['sqlite', 'postgres'] as const;
/** What takes less a report is printed as one line. */
const SMALL_BYTES = 2;

export async function benchStorage(args: readonly string[]): Promise<void> {
  const reports = Number(args.find((arg) => /^\d+$/.test(arg)) ?? REPORTS);
  for (const shape of takeWanted(MEASURED, args))
    for (const engine of takeWanted(ENGINES, args)) await measure({ engine, shape, reports });
}

/** Those that the arguments name, or all. */
function takeWanted<T extends string>(names: readonly T[], args: readonly string[]): readonly T[] {
  const named = names.filter((name) => args.includes(name));
  return named.length > 0 ? named : names;
}

interface Wanted {
  readonly engine: (typeof ENGINES)[number];
  readonly shape: ShapeName;
  readonly reports: number;
}

async function measure({ engine, ...wanted }: Wanted): Promise<void> {
  print(`\n${wanted.reports} reports, ${wanted.shape}, ${engine}`);
  const request = { ...wanted, root: process.env['BENCH_ROOT'] ?? OWN_ROOT, people: 0 };
  if (engine === 'postgres') {
    const server = await startBenchServer();
    try {
      const before = server.micros();
      const filled = await fill({ ...request, database: server.url });
      await tell(filled, (server.micros() - before) / 1000);
    } finally {
      await server.stop();
    }
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  try {
    await tell(await fill({ ...request, database: join(folder, 'storage.db') }), 0);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function tell(filled: Filled, elsewhereMs: number): Promise<void> {
  const { path, reports, originalBytes, cpuMs } = filled;
  const sizes = (await listSizes(path)).sort((a, b) => b.bytes - a.bytes);
  const line = (name: string, bytes: number) =>
    print(`  ${name.padEnd(50)} ${(bytes / reports).toFixed(1).padStart(9)} bytes a report`);
  const sum = (all: readonly Size[]) => all.reduce((total, { bytes }) => total + bytes, 0);
  const isSmall = ({ bytes }: Size) => bytes / reports < SMALL_BYTES;
  for (const { table, part, bytes } of sizes.filter((size) => !isSmall(size)))
    line(`${table}: ${part}`, bytes);
  line('everything else', sum(sizes.filter(isSmall)));
  line('together', sum(sizes));
  line('the originals alone', originalBytes);
  line('beside them', sum(sizes) - originalBytes);
  line("report's rows and indexes", sum(sizes.filter(({ table }) => table === 'report')));
  print(
    `  CPU of intake: ${(cpuMs / reports).toFixed(3)} ms a report, and ${(elsewhereMs / reports).toFixed(3)} ms of the database server`,
  );
}
