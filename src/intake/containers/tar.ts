import { Refusal } from '../../domain/reports/refusal.ts';
import type { Budget } from '../budget.ts';
import { toContent } from '../content.ts';
import { type Member, toDisplayName } from './member.ts';

const BLOCK_BYTES = 512;
/** Fields of a header (POSIX.1-1988, ustar): where they begin and end. */
const NAME = [0, 100] as const;
const SIZE = [124, 136] as const;
const CHECKSUM = [148, 156] as const;
const TYPE = [156, 157] as const;
/** Types of regular files. Others are folders, links and further names. */
const FILES = new Set(['', '0', '7']);
const BLANK = 32;

/** Whether the bytes begin with a header whose checksum is right. */
export function isTar(head: Uint8Array): boolean {
  const wanted = toNumber(head, CHECKSUM);
  if (head.length < BLOCK_BYTES || !(wanted > 0)) return false;
  const header = Uint8Array.from(head.subarray(0, BLOCK_BYTES)).fill(BLANK, ...CHECKSUM);
  return header.reduce((sum, byte) => sum + byte) === wanted;
}

/** The files of a tar, in order. Zeros follow the last one, or nothing does. */
export async function* readTar(bytes: Uint8Array, budget: Budget): AsyncGenerator<Member> {
  for (let [at, index] = [0, 1]; isTar(bytes.subarray(at, at + BLOCK_BYTES)); index += 1) {
    budget.addMember();
    const header = bytes.subarray(at, at + BLOCK_BYTES);
    const start = at + BLOCK_BYTES;
    const end = start + toNumber(header, SIZE);
    if (!(end <= bytes.length)) throw new Refusal('bad_archive', 'The tar archive ends early.');
    at = start + Math.ceil((end - start) / BLOCK_BYTES) * BLOCK_BYTES;
    if (!FILES.has(toText(header, TYPE))) continue;
    const name = toDisplayName(toText(header, NAME), `member ${index}`);
    yield { name, content: toContent(bytes.subarray(start, end)), isQuiet: false, isPart: true };
  }
}

/** The text of a field, up to its first zero. */
const toText = (header: Uint8Array, [begin, end]: readonly [number, number]): string =>
  Buffer.from(header.subarray(begin, end)).toString().replace(/\0.*$/s, '');

/** Octal digits, 0 for none; NaN for anything else. */
const toNumber = (header: Uint8Array, field: readonly [number, number]): number =>
  Number(
    toText(header, field)
      .trim()
      .replace(/^0*(?=.)/, '0o'),
  );
