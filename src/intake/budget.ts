import { Refusal } from '../domain/refusal.ts';
import {
  CPU_BASE_MS,
  CPU_MS_PER_KEPT_BYTE,
  CPU_MS_PER_MIB,
  KEPT_BASE_BYTES,
  KEPT_PER_SOURCE_BYTE,
  MAX_UNPACKED_BYTES,
  MEMBERS_BASE,
  SOURCE_BYTES_PER_MEMBER,
} from './ceilings.ts';

const MIB = 1024 * 1024;
const CPU_ASKED_EVERY_MS = 10;

/**
 * What reading one source may cost in all. Every stage spends from it before it does the work, and a
 * source that has spent it is refused with `too_large` or `too_costly`. The source's own size scales the
 * limits, so that a large mailbox is read whole and a small file cannot cost much.
 */
export class Budget {
  readonly #sourceBytes: number;
  readonly #cpuMs: () => number;
  readonly #cpuStartMs: number;
  #unpacked = 0;
  #scanned = 0;
  #members = 0;
  #kept = 0;
  #isSpent = false;

  /** `cpuMs` says how much CPU the process has used, in milliseconds. */
  constructor(sourceBytes: number, cpuMs: () => number = processCpuMs) {
    this.#sourceBytes = sourceBytes;
    this.#cpuMs = cpuMs;
    this.#cpuStartMs = cpuMs();
  }

  /** Whether a limit was passed; the rest of the source is then not read. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Bytes that came out of a decompressor or a decoder. */
  unpack(bytes: number): void {
    this.#unpacked += bytes;
    if (this.#unpacked > MAX_UNPACKED_BYTES) this.#refuse('too_large', 'it unpacks to too much');
    this.checkCpu();
  }

  /**
   * Bytes that a decompressor read. Honest data is read once in each container, so it never adds up to more
   * than the source and all that came out of it; overlapping members are read again and again.
   */
  scan(bytes: number): void {
    this.#scanned += bytes;
    if (this.#scanned > this.#sourceBytes + this.#unpacked + MIB)
      this.#refuse('too_large', 'its members overlap');
    this.checkCpu();
  }

  /** One member of an archive, message of a mailbox or part of a mail. */
  addMember(): void {
    this.#members += 1;
    if (this.#members > MEMBERS_BASE + this.#sourceBytes / SOURCE_BYTES_PER_MEMBER)
      this.#refuse('too_large', 'it has too many members');
    this.checkCpu();
  }

  /** Bytes that will be stored of a document, estimated. */
  keep(bytes: number): void {
    this.#kept += bytes;
    if (this.keepable < 0) this.#refuse('too_large', 'it has too many documents');
    this.checkCpu();
  }

  /** How many bytes may still be stored. */
  get keepable(): number {
    return KEPT_BASE_BYTES + KEPT_PER_SOURCE_BYTE * this.#sourceBytes - this.#kept;
  }

  /** To be called in every loop over the source's content. */
  checkCpu(): void {
    const limitMs = CPU_BASE_MS + (CPU_MS_PER_MIB * this.#sourceBytes) / MIB;
    const storingMs = this.#kept * CPU_MS_PER_KEPT_BYTE;
    if (this.#cpuMs() - this.#cpuStartMs + storingMs > limitMs)
      this.#refuse('too_costly', 'reading it takes too long');
  }

  #refuse(reason: 'too_large' | 'too_costly', why: string): never {
    this.#isSpent = true;
    throw new Refusal(reason, `The source was not read to its end: ${why}.`);
  }
}

let askedAtMs = Number.NEGATIVE_INFINITY;
let answeredMs = 0;

/**
 * User and system time of the whole process, because decompression runs on other threads. Asking the system takes
 * 14 µs, and every member of every source asks, so an answer serves for a while.
 */
function processCpuMs(): number {
  const nowMs = performance.now();
  if (nowMs - askedAtMs < CPU_ASKED_EVERY_MS) return answeredMs;
  askedAtMs = nowMs;
  const { user, system } = process.cpuUsage();
  answeredMs = (user + system) / 1000;
  return answeredMs;
}
