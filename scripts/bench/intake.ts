/** The cost of reading reports: many typical ones, in files and in mails, a very large one, and a decompression bomb. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { type Bench, isAlone } from './bench.ts';
import { type Checkout, ingest, makeOwner, run } from './checkout.ts';
import { type Contender, type Cost, compare } from './compare.ts';
import { SHAPES, toDomainName, toMadeReport } from './databases.ts';
import { type FileKind, MAIL, REPORT, writeFiles } from './files.ts';
import type { MadeReport } from './reports.ts';

const REPORTS = Number(process.env['BENCH_REPORTS'] ?? 4_000);
/** Reports of fifty domains, as a reporter sends them. */
const SHAPE = { ...SHAPES.account, domains: 50 };
/** Nearly as many elements as a document may have. */
const LARGE_RECORDS = 30_000;
const BOMB_BYTES = 1024 ** 3;

interface Row {
  readonly name: string;
  readonly kind: FileKind;
  readonly reports: readonly MadeReport[];
}

const made = (count: number) => Array.from({ length: count }, (_, i) => toMadeReport(SHAPE, i));
const large = { ...toMadeReport(SHAPE, 0), records: LARGE_RECORDS, addresses: LARGE_RECORDS };

/** A report among many has to cost what one among few does. */
const ROWS: readonly Row[] = [
  { name: `${REPORTS} reports (goal: 1,000 µs)`, kind: REPORT, reports: made(REPORTS) },
  { name: `${REPORTS / 4} reports`, kind: REPORT, reports: made(REPORTS / 4) },
  { name: `${REPORTS} mails`, kind: MAIL, reports: made(REPORTS) },
  { name: `a report of ${LARGE_RECORDS} records`, kind: REPORT, reports: [large] },
];

export async function benchIntake(bench: Bench): Promise<void> {
  const toTitle = (name: string) => `intake, ${bench.engine.name}: ${name}`;
  for (const { name, kind, reports } of ROWS.filter((row) => bench.isWanted(toTitle(row.name)))) {
    const folder = await mkdtemp(join(bench.folder, 'files-'));
    const files: Files = {
      all: join(folder, 'all'),
      start: join(folder, 'start'),
      count: reports.length,
    };
    await writeFiles(files.all, reports, kind);
    await writeFiles(files.start, [toMadeReport(SHAPE, REPORTS)], kind);
    const parser = { name: 'parser alone', round: () => parseAll(files) };
    const ours = bench.checkouts.map((checkout) => toContender(bench, checkout, files));
    const isWithParser = isAlone(bench) && kind === REPORT;
    await compare(toTitle(name), isWithParser ? [parser, ...ours] : ours);
    await rm(folder, { recursive: true });
  }
  const bomb = toTitle('a bomb of 1 GiB');
  if (bench.isWanted(bomb)) await benchBomb(bench, bomb);
}

export interface Files {
  /** A folder. */
  readonly all: string;
  /** A folder with another report alone, for what starting the command costs. */
  readonly start: string;
  readonly count: number;
}

function toContender(bench: Bench, checkout: Checkout, files: Files): Contender {
  const round = async () => {
    const database = await bench.engine.create(`intake-${performance.now()}`);
    await makeOwner(checkout, database, [...Array(SHAPE.domains).keys()].map(toDomainName));
    return await ingestAll(bench, checkout, { database, ...files });
  };
  return { name: checkout.name, round };
}

/** What intake costs without the start of the command, in a database that monitors the reports' domains. */
export async function ingestAll(
  { engine }: Pick<Bench, 'engine'>,
  checkout: Checkout,
  { database, all, start, count }: Files & { readonly database: string },
): Promise<Cost> {
  // The first start of a version compiles its code.
  await ingest(checkout, start, { database, reports: 1 });
  const started = await run(checkout, ['ingest', start], { database });
  const before = engine.micros();
  const ran = await ingest(checkout, all, { database, reports: count });
  return {
    'µs of CPU a report': (ran.micros - started.micros) / count,
    'µs of PostgreSQL': (engine.micros() - before) / count,
    'seconds for all': ran.seconds,
    'MB of memory': ran.megabytes,
  };
}

/** The baseline: every file is read, unpacked and parsed, without further work. */
async function parseAll({ all, count }: Files): Promise<Cost> {
  const before = process.cpuUsage();
  for (const name of await readdir(all)) {
    const parser = new SaxesParser();
    parser.write(gunzipSync(await readFile(join(all, name))).toString()).close();
  }
  const { user, system } = process.cpuUsage(before);
  return { 'µs of CPU a report': (user + system) / count };
}

async function benchBomb({ engine, checkouts, folder }: Bench, title: string): Promise<void> {
  const bomb = join(folder, 'bomb.xml.gz');
  await writeFile(bomb, gzipSync(Buffer.alloc(BOMB_BYTES, '<')));
  const toBombed = (checkout: Checkout): Contender => ({
    name: checkout.name,
    round: async () => {
      const database = await engine.create(`bomb-${performance.now()}`);
      const { value, micros, megabytes } = await run(checkout, ['ingest', bomb], { database });
      if (value.summary.rejected !== 1) throw new Error('The bomb was not rejected.');
      return { 'µs of CPU': micros, 'MB of memory': megabytes };
    },
  });
  await compare(title, checkouts.map(toBombed));
}
