/** Databases that a checkout's own intake has filled. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Day } from '../../src/domain/instant.ts';
import { type Checkout, ingest, makeOwner } from './checkout.ts';
import { print } from './compare.ts';
import type { Engine } from './engines.ts';
import { REPORT, writeFiles } from './files.ts';
import { type MadeReport, toDay } from './reports.ts';

/** Whose reports a database holds: of one account, with so many domains. */
export interface Shape {
  readonly domains: number;
  /** Reports that a domain gets on a day, each of another reporter. */
  readonly reporters: number;
  readonly records: number;
  readonly addresses: number;
}

const REPORTS = Number(process.env['BENCH_REPORTS'] ?? 200_000);
/** At most three years of days, so that none is in the future. */
const OF_DAY = Math.max(183, Math.ceil(REPORTS / 1_095));
/** A year and a day. */
const YEAR = 366;

/**
 * *overview* is two months of 500 domains, for pages of their figures. *usual* and *heavy* are a year of a domain for pages of sources: of some 20 addresses a day, and of more than the 1,000 of a day
 * that are kept one by one.
 */
export const SHAPES = {
  domain: { domains: 1, reporters: OF_DAY, records: 10, addresses: 15, reports: REPORTS },
  account: { domains: 5_000, reporters: 4, records: 10, addresses: 15, reports: REPORTS },
  overview: { domains: 500, reporters: 1, records: 10, addresses: 15, reports: 500 * 60 },
  usual: { domains: 1, reporters: 4, records: 10, addresses: 15, reports: 4 * YEAR },
  heavy: { domains: 1, reporters: 1, records: 1_200, addresses: 50_000, reports: YEAR },
} as const satisfies Readonly<Record<string, Shape & { readonly reports: number }>>;

export type ShapeName = keyof typeof SHAPES;

export interface Filled {
  /** A path or a URL. */
  readonly database: string;
  readonly reports: number;
  readonly accountId: string;
  readonly key: string;
  readonly domainId: string;
  /** A domain without reports. */
  readonly emptyId: string;
  /** The newest thirty days that have reports. */
  readonly from: Day;
  readonly until: Day;
  readonly originalBytes: number;
}

/** Reports that are written as files, and then stored. */
const CHUNK = 10_000;
const EMPTY = 'empty.example';

export class Databases {
  readonly #engine: Engine;
  readonly #folder: string;
  readonly #filled = new Map<string, Promise<Filled>>();

  /** SQLite's databases stay in the folder, and are used again when it is used again. */
  constructor(engine: Engine, folder: string) {
    this.#engine = engine;
    this.#folder = folder;
  }

  open(checkout: Checkout, shape: ShapeName): Promise<Filled> {
    const name = `${checkout.name}-${shape}-${SHAPES[shape].reports}`;
    const filled = this.#filled.get(name) ?? this.#open(name, checkout, shape);
    this.#filled.set(name, filled);
    return filled;
  }

  async #open(name: string, checkout: Checkout, shape: ShapeName): Promise<Filled> {
    const note = join(this.#folder, `${name}.json`);
    const isKept = this.#engine.name === 'SQLite';
    const known = isKept && (await readFile(note, 'utf8').then(JSON.parse, () => undefined));
    if (known) return known;
    print(
      `${checkout.name} stores ${SHAPES[shape].reports} reports (${shape}, ${this.#engine.name})`,
    );
    const filled = await this.#fill(await this.#engine.create(name), checkout, SHAPES[shape]);
    await this.#engine.tidy(filled.database);
    if (isKept) await writeFile(note, JSON.stringify(filled));
    return filled;
  }

  async #fill(
    database: string,
    checkout: Checkout,
    shape: Shape & { readonly reports: number },
  ): Promise<Filled> {
    const { reports } = shape;
    const names = [...Array(shape.domains).keys()].map(toDomainName);
    const { domains, ...owner } = await makeOwner(checkout, database, [...names, EMPTY]);
    const root = await mkdtemp(join(this.#folder, 'files-'));
    let originalBytes = 0;
    for (let from = 0; from < reports; from += CHUNK) {
      const chunk = Array.from({ length: Math.min(CHUNK, reports - from) }, (_, i) => from + i);
      const made = chunk.map((i) => toMadeReport(shape, i));
      const folder = join(root, `${from}`);
      originalBytes += await writeFiles(folder, made, REPORT);
      await ingest(checkout, folder, { database, reports: chunk.length });
      await rm(folder, { recursive: true });
    }
    await rm(root, { recursive: true });
    const last = toMadeReport(shape, reports - 1).day;
    const [domainId = '', emptyId = ''] = [toDomainName(0), EMPTY].map((name) => domains.get(name));
    const days = { from: toDay(last - 29), until: toDay(last) };
    return { database, reports, ...owner, domainId, emptyId, ...days, originalBytes };
  }
}

/** The report with this number, in the order of arrival: day by day, and each reporter sends those of all domains. */
export function toMadeReport({ domains, reporters, ...content }: Shape, i: number): MadeReport {
  const round = Math.floor(i / domains);
  const [day, reporter] = [Math.floor(round / reporters), round % reporters];
  return { domain: toDomainName(i % domains), day, reporter, ...content };
}

export const toDomainName = (i: number) => `company-${i}.example`;
