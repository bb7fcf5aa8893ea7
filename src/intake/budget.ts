import { Refusal } from '../domain/reports/refusal.ts';
import {
  CPU_MS_PER_KEPT_BYTE,
  INPUT_BYTES_PER_MEMBER,
  KEPT_BASE_BYTES,
  KEPT_PER_INPUT_BYTE,
  MAX_UNPACKED_BYTES,
  MEMBERS_BASE,
  maxCpuMs,
} from './limits.ts';

const MIB = 1024 * 1024;
const CPU_ASKED_EVERY_MS = 10;

/** What reading one input may cost. */
export interface Limits {
  readonly unpackedBytes: number;
  /** Members of archives, parts of mails and messages of mailboxes. */
  readonly members: number;
  readonly mails: number;
  readonly cpuMs: number;
}

/** The limits of an input of this size. */
function limitsOf(inputBytes: number): Limits {
  return {
    unpackedBytes: MAX_UNPACKED_BYTES,
    members: MEMBERS_BASE + inputBytes / INPUT_BYTES_PER_MEMBER,
    mails: Number.POSITIVE_INFINITY,
    cpuMs: maxCpuMs(inputBytes),
  };
}

/**
 * The budget for reading one input. Every stage spends from it before it does the work. An input that
 * exceeds it is rejected with `too_large` or `too_costly`. The limits grow with the input's own size, so
 * that a large mailbox is read completely and a small file cannot cost much.
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
  #isSpent = false;

  /** `cpuMs` says how much CPU the process has used, in milliseconds. */
  constructor(
    inputBytes: number,
    cpuMs: () => number = processCpuMs,
    limits: Partial<Limits> = {},
  ) {
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

  /**
   * Bytes that a decompressor read. Honest data is read once in each container, so the sum is at most the
   * size of the input and of all that was unpacked from it. Overlapping members are read many times.
   */
  scan(bytes: number): void {
    this.#scanned += bytes;
    if (this.#scanned > this.#inputBytes + this.#unpacked + MIB)
      this.#refuse('too_large', 'its members overlap');
    this.checkCpu();
  }

  /** One member of an archive, message of a mailbox or part of a mail. */
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

  /** How many bytes may still be stored. */
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

let askedAtMs = Number.NEGATIVE_INFINITY;
let answeredMs = 0;

/**
 * User and system time of the whole process, because decompression runs on other threads. Reading it takes 14
 * µs, and every member of every input needs it, so the value is cached for a short time.
 */
function processCpuMs(): number {
  const nowMs = performance.now();
  if (nowMs - askedAtMs < CPU_ASKED_EVERY_MS) return answeredMs;
  askedAtMs = nowMs;
  const { user, system } = process.cpuUsage();
  answeredMs = (user + system) / 1000;
  return answeredMs;
}
