/**
 * What a mail costs by each door that is open, from its arrival until its report is stored, beside what `plumbline ingest` of
 * the same files costs; how long it takes until the last is stored and filed, and memory. IMAP is measured as root, with
 * Debian's dovecot-imapd.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bench, isAlone } from '../bench.ts';
import { type Checkout, makeOwner, OWN } from '../checkout.ts';
import { type Cost, compare } from '../compare.ts';
import { SHAPES, toDomainName, toMadeReport } from '../databases.ts';
import { writeFiles } from '../files.ts';
import { type Files, ingestAll } from '../intake.ts';
import { DOORS, type Door } from './doors.ts';
import { type Brought, takeByDoor } from './take.ts';

const MAILS = Number(process.env['BENCH_REPORTS'] ?? 2_000);

export async function benchDoors(bench: Bench): Promise<void> {
  for (const door of DOORS) {
    const title = `doors, ${bench.engine.name}: ${MAILS} mails by ${door.name}`;
    if (!bench.isWanted(title) || !existsSync(door.needs ?? '/')) continue;
    const ours = bench.checkouts.map((checkout) => ({
      name: checkout.name,
      round: () => bring(bench, checkout, { door, take: (brought) => takeByDoor(door, brought) }),
    }));
    const take = (brought: Brought) => ingestAll(brought, OWN, brought);
    const ingest = { name: 'ingest', round: () => bring(bench, OWN, { door, take }) };
    await compare(title, isAlone(bench) ? [ingest, ...ours] : ours);
  }
}

interface Measured {
  readonly door: Door;
  readonly take: (brought: Brought) => Promise<Cost>;
}

async function bring(
  { engine, folder: root }: Bench,
  checkout: Checkout,
  { door, take }: Measured,
): Promise<Cost> {
  const folder = await mkdtemp(join(root, 'doors-'));
  try {
    const database = await engine.create(`doors-${performance.now()}`);
    const { key } = await makeOwner(checkout, database, [toDomainName(0)]);
    const files: Files = { all: join(folder, 'all'), start: join(folder, 'start'), count: MAILS };
    const reports = Array.from({ length: MAILS + 1 }, (_, i) => toMadeReport(SHAPES.domain, i));
    await writeFiles(files.start, reports.slice(0, 1), door.kind);
    await writeFiles(files.all, reports.slice(1), door.kind);
    return await take({ ...files, engine, checkout, database, key });
  } finally {
    await rm(folder, { recursive: true });
  }
}
