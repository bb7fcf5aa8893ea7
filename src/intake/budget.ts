import { Refusal } from '../domain/reports/refusal.ts';
import type { Report } from '../domain/reports/report.ts';

const MIB = 1024 * 1024;

/** Limits of what is really unpacked. None is a ratio: a genuine report packs 102 : 1; size alone shows a bomb. */
interface Limits {
  /** All that the input unpacks to, all members together: stops a zip of zips. */
  readonly unpackedBytes: number;
  /** Members of archives, parts of mails and messages of mailboxes. */
  readonly members: number;
}

/** A mailbox of ten years has 40,000 reports of 10 kB in 150 MB. */
const UNPACKED_PER_INPUT_BYTE = 32;

/**
 * What each thing that is counted costs, in nanoseconds of CPU where it was measured: the least favourable case of it.
 * The sum does not depend on the machine, so the same input always has the same outcome.
 */
const COSTS = {
  unpackedByte: 2,
  /** A byte that is decompressed: the worst are blocks that give nothing. */
  packedByte: 100,
  /** A byte in the transfer encoding of a mail, or of a header. */
  decodedByte: 10,
  /** A line of a mail that may begin with a boundary or end a header, or has uuencode. */
  line: 150,
  /** A character of a header field with parameters or encoded words. */
  fieldChar: 900,
  /** A byte that is hashed to check a signature, a line of it whose blanks do not count, two names of fields that are compared. */
  hashedByte: 10,
  unevenLine: 600,
  compared: 5,
  /** What looks like the beginning of a message, like a boundary, or like a value of S/MIME. */
  match: 300,
  /** An entry of the directory of a zip, read or not. */
  entry: 5_000,
  member: 30_000,
  xmlByte: 7,
  /** A tag, a text, an entity, a comment, the name or the value of an attribute, a character that is repaired. */
  token: 150,
  /** An object of JSON, with what it is made into. */
  object: 1_200,
  record: 4_000,
  /** A byte that is stored: reading is only half of what a report costs. */
  keptByte: 300,
} as const;

/**
 * What reading and storing one input may cost, in the same unit: a base, and an amount for each byte. The largest
 * honest report, 60 MB of XML in 0.5 MB of gzip, is the most that bytes of an honest input can cost; those of archives
 * and mailboxes, which are larger, cost a third of that.
 */
const COST = { base: 100e6, firstBytes: MIB / 2, perByte: 6_000, perFurtherByte: 2_500 };

/** What a new process needs before it reads: libraries are loaded and compiled. */
const START_MS = 1_000;

/** CPU time after which reading is given up for now: what an input may cost, of which honest ones need less than half. */
export function maxCpuMs(inputBytes: number, options: Spending): number {
  return START_MS + maxCost(inputBytes, options) / 1e6;
}

/** What anybody can send costs no more than the largest honest report, whatever its size. */
const MAILED_COST = { ...COST, perByte: 4_200, perFurtherByte: 0 };
/** While others may wait behind it, who may be behind twenty of strangers. Nearly all honest mails need less, and files. */
const BRIEF_COST = { base: 40e6, firstBytes: 200 * 1024, perByte: 1_200, perFurtherByte: 0 };
const BRIEF_SHARE = 0.2;

function maxCost(inputBytes: number, { isMailed = false, isBrief = false }: Spending): number {
  if (isMailed) return findMax(isBrief ? BRIEF_COST : MAILED_COST, inputBytes);
  return findMax(COST, inputBytes) * (isBrief ? BRIEF_SHARE : 1);
}

/**
 * What one input may add to the database besides its own bytes, estimated: a base, and a multiple of its size. Reports
 * of one record, the smallest, take 1,500 bytes each and 400 in a zip. A stranger's mail is small and may add less.
 */
const KEPT = { base: MIB / 2, firstBytes: MIB, perByte: 4, perFurtherByte: 6 };

function findMax({ base, firstBytes, perByte, perFurtherByte }: typeof KEPT, bytes: number) {
  const further = Math.max(0, bytes - firstBytes);
  return base + Math.min(firstBytes, bytes) * perByte + further * perFurtherByte;
}

/** What the originals of its documents may take in all, of a part each. They are parts of the input, compressed. */
const ORIGINALS_BASE_BYTES = MIB;
const ORIGINALS_PER_INPUT_BYTE = 2;

/** What a report takes in the database with its document and indexes, besides its content and texts. */
export const REPORT_ROW_BYTES = 1_300;

/** The estimated bytes that will be stored of a report. */
export function estimateStored(report: Pick<Report, 'metadata' | 'content'>): number {
  const { orgName, email, reportId } = report.metadata;
  return estimateBytes(report) + `${orgName}${email}${reportId}`.length;
}

/** The estimated size of a report in memory; without one, of a refusal. */
export function estimateBytes(report?: Pick<Report, 'content'>): number {
  return REPORT_ROW_BYTES + (report?.content.length ?? 0);
}

export interface Spending {
  /** Whether it came as a mail, which anybody can send. */
  readonly isMailed?: boolean | undefined;
  /** Whether others wait behind the input. */
  readonly isBrief?: boolean | undefined;
  /** What finding out who sent it has cost. */
  readonly spent?: number | undefined;
}

/**
 * What reading one input may cost. Every stage spends from it before it does the work; an input that exceeds it is
 * rejected with `too_large` or `too_costly`. The limits grow with the input, so that a large mailbox is read
 * completely and a small file cannot cost much.
 */
export class Budget {
  readonly inputBytes: number;
  readonly #limits: Limits;
  readonly #maxCost: number;
  cost: number;
  #unpacked = 0;
  #scanned = 0;
  #members = 0;
  #originals = 0;
  /** The estimated bytes of the documents that will be stored. */
  kept = 0;
  /** Whether a limit was exceeded; the rest of the input is then not read. */
  isSpent = false;

  constructor(inputBytes: number, limits: Partial<Limits> = {}, options: Spending = {}) {
    this.inputBytes = inputBytes;
    this.#limits = {
      unpackedBytes: 256 * MIB + UNPACKED_PER_INPUT_BYTE * inputBytes,
      members: 10_000 + inputBytes / 100,
      ...limits,
    };
    this.#maxCost = maxCost(inputBytes, options);
    this.cost = options.spent ?? 0;
  }

  /** Every loop over the input's content calls this. */
  spend(what: keyof typeof COSTS, count = 1): void {
    this.cost += COSTS[what] * count;
    if (this.cost > this.#maxCost) this.#refuse('too_costly', 'reading it costs too much');
  }

  /** Bytes that came out of a decompressor. */
  unpack(bytes: number): void {
    this.#unpacked += bytes;
    if (this.#unpacked > this.#limits.unpackedBytes)
      this.#refuse('too_large', 'it unpacks to too much');
    this.spend('unpackedByte', bytes);
  }

  /** Bytes of a container that were read. Honest data is read once in each container, overlapping members many times. */
  scan(bytes: number): void {
    this.#scanned += bytes;
    if (this.#scanned > this.inputBytes + this.#unpacked + MIB)
      this.#refuse('too_large', 'its members overlap');
  }

  addMember(): void {
    this.#members += 1;
    if (this.#members > this.#limits.members) this.#refuse('too_large', 'it has too many members');
    this.spend('member');
  }

  /** The estimated bytes that will be stored of a document. */
  keep(bytes: number): void {
    this.kept += bytes;
    if (this.keepable < 0) this.#refuse('too_large', 'it has too many documents');
    this.spend('keptByte', bytes);
  }

  /** Whether there is room for the original of one more document. Without it, the document is stored all the same. */
  keepOriginal(bytes: number): boolean {
    const max = ORIGINALS_BASE_BYTES + ORIGINALS_PER_INPUT_BYTE * this.inputBytes;
    if (this.#originals + bytes > max) return false;
    this.#originals += bytes;
    return true;
  }

  get keepable(): number {
    return findMax(KEPT, this.inputBytes) - this.kept;
  }

  #refuse(reason: 'too_large' | 'too_costly', why: string): never {
    this.isSpent = true;
    throw new Refusal(reason, `The input was not read to its end: ${why}.`);
  }
}
