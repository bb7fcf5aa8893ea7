import type { AggregateReport } from '../domain/reports/aggregate-report.ts';
import { Refusal } from '../domain/reports/refusal.ts';

const MIB = 1024 * 1024;

/** Limits of what is really unpacked. None is a ratio: a genuine report packs 102 : 1; size alone shows a bomb. */
export interface Limits {
  /** All that the input unpacks to, all members together: stops a zip of zips. */
  readonly unpackedBytes: number;
  /** Members of archives, parts of mails and messages of mailboxes. */
  readonly members: number;
  readonly mails: number;
  readonly cpuMs: number;
}

/** A mailbox of 9,000 reports has 10 MB. */
function limitsOf(inputBytes: number): Limits {
  return {
    unpackedBytes: 256 * MIB,
    members: 10_000 + inputBytes / 100,
    mails: Number.POSITIVE_INFINITY,
    cpuMs: maxCpuMs(inputBytes),
  };
}

/**
 * CPU time for one input, reading and storing together: a base, and an amount for its first and for each further
 * mebibyte. The largest honest report, 60 MB of XML in 0.5 MB of gzip, takes 2 s; 9,000 reports in a zip of 5 MB take
 * 8 s. The cost of storing is estimated while the input is read.
 */
const CPU_BASE_MS = 2_700;
const CPU_MS_OF_FIRST_MIB = 1_700;
const CPU_MS_OF_FURTHER_MIB = 3_000;
const CPU_MS_PER_KEPT_BYTE = 0.0004;

export function maxCpuMs(inputBytes: number): number {
  const mib = inputBytes / MIB;
  const further = Math.max(0, mib - 1) * CPU_MS_OF_FURTHER_MIB;
  return CPU_BASE_MS + Math.min(1, mib) * CPU_MS_OF_FIRST_MIB + further;
}

/** What one input may add to the database besides its own bytes, estimated: a base, plus a multiple of its size. */
const KEPT_BASE_BYTES = MIB;
const KEPT_PER_INPUT_BYTE = 3;

/** What the originals of its documents may take in all, of a part each. They are parts of the input, compressed. */
const ORIGINALS_BASE_BYTES = MIB;
const ORIGINALS_PER_INPUT_BYTE = 2;

/** What a report takes in the database with its indexes, besides its content and texts, and each source in its day. */
export const REPORT_ROW_BYTES = 800;
const SOURCE_BYTES = 30;

type Counted = Pick<AggregateReport, 'metadata' | 'content' | 'sources'>;

/** The estimated bytes that will be stored of a report. */
export function estimateStored({ metadata, content, sources = [] }: Counted): number {
  const { orgName, email, reportId } = metadata;
  const texts = `${orgName}${email}${reportId}`.length;
  return REPORT_ROW_BYTES + texts + content.length + SOURCE_BYTES * sources.length;
}

/** What a source, and each pattern of one, take in memory besides the pattern's text. */
const SOURCE_OBJECT_BYTES = 150;

/** The estimated size of a report in memory; without one, of a refusal. */
export function estimateBytes(report?: Pick<AggregateReport, 'content' | 'sources'>): number {
  let bytes = REPORT_ROW_BYTES + (report?.content.length ?? 0);
  for (const { patterns = [] } of report?.sources ?? []) {
    bytes += SOURCE_OBJECT_BYTES;
    for (const { pattern } of patterns) bytes += SOURCE_OBJECT_BYTES + pattern.length;
  }
  return bytes;
}

/**
 * What reading one input may cost. Every stage spends from it before it does the work; an input that exceeds it is
 * rejected with `too_large` or `too_costly`. The limits grow with the input, so that a large mailbox is read
 * completely and a small file cannot cost much.
 */
export class Budget {
  readonly #inputBytes: number;
  readonly #cpuMs: () => number;
  readonly #cpuStartMs: number;
  readonly #limits: Limits;
  #unpacked = 0;
  #scanned = 0;
  #members = 0;
  #mails = 0;
  #kept = 0;
  #originals = 0;
  #isSpent = false;

  constructor(inputBytes: number, limits: Partial<Limits> = {}, cpuMs = processCpuMs) {
    this.#inputBytes = inputBytes;
    this.#cpuMs = cpuMs;
    this.#cpuStartMs = cpuMs();
    this.#limits = { ...limitsOf(inputBytes), ...limits };
  }

  /** Whether a limit was exceeded; the rest of the input is then not read. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Bytes that came out of a decompressor or a decoder. */
  unpack(bytes: number): void {
    this.#unpacked += bytes;
    if (this.#unpacked > this.#limits.unpackedBytes)
      this.#refuse('too_large', 'it unpacks to too much');
    this.checkCpu();
  }

  /** Bytes that a decompressor read. Honest data is read once in each container, overlapping members many times. */
  scan(bytes: number): void {
    this.#scanned += bytes;
    if (this.#scanned > this.#inputBytes + this.#unpacked + MIB)
      this.#refuse('too_large', 'its members overlap');
    this.checkCpu();
  }

  addMember(): void {
    this.#members += 1;
    if (this.#members > this.#limits.members) this.#refuse('too_large', 'it has too many members');
    this.checkCpu();
  }

  /** One mail, before its header is read. */
  addMail(): void {
    this.#mails += 1;
    if (this.#mails > this.#limits.mails) this.#refuse('too_large', 'it has too many mails');
  }

  /** The estimated bytes that will be stored of a document. */
  keep(bytes: number): void {
    this.#kept += bytes;
    if (this.keepable < 0) this.#refuse('too_large', 'it has too many documents');
    this.checkCpu();
  }

  /** Whether there is room for the original of one more document. Without it, the document is stored all the same. */
  keepOriginal(bytes: number): boolean {
    const max = ORIGINALS_BASE_BYTES + ORIGINALS_PER_INPUT_BYTE * this.#inputBytes;
    if (this.#originals + bytes > max) return false;
    this.#originals += bytes;
    return true;
  }

  get keepable(): number {
    return KEPT_BASE_BYTES + KEPT_PER_INPUT_BYTE * this.#inputBytes - this.#kept;
  }

  /** Every loop over the input's content calls this. */
  checkCpu(): void {
    const storingMs = this.#kept * CPU_MS_PER_KEPT_BYTE;
    if (this.#cpuMs() - this.#cpuStartMs + storingMs > this.#limits.cpuMs)
      this.#refuse('too_costly', 'reading it takes too long');
  }

  #refuse(reason: 'too_large' | 'too_costly', why: string): never {
    this.#isSpent = true;
    throw new Refusal(reason, `The input was not read to its end: ${why}.`);
  }
}

const CPU_ASKED_EVERY_MS = 10;
let askedAtMs = Number.NEGATIVE_INFINITY;
let answeredMs = 0;

/** Of the whole process, because decompression runs on other threads. Reading it takes 14 µs, so it is cached. */
function processCpuMs(): number {
  const nowMs = performance.now();
  if (nowMs - askedAtMs < CPU_ASKED_EVERY_MS) return answeredMs;
  askedAtMs = nowMs;
  const { user, system } = process.cpuUsage();
  answeredMs = (user + system) / 1000;
  return answeredMs;
}
