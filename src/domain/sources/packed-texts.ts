import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ByteReader, ByteWriter } from './byte-numbers.ts';

/*
 * Lines of text: the number of their blocks, then each block behind its form and its length. Who needs one line of
 * thousands unpacks one block. Short blocks are not compressed, which would take as long as all else.
 */
const FORMS = { plain: 1, deflated: 2 } as const;
const LINES = 32;
const MAX_PLAIN_BYTES = 512;
/**
 * What patterns often have, the most frequent last: it saves 30 bytes of each block, and takes no time. A change makes
 * what is stored unreadable.
 */
const DICTIONARY = Buffer.from(
  '"permerror","temperror","neutral",null,"policy","softfail","reject","default","selector2","pass"]\n[".net",' +
    '0,0,"quarantine","mail.","fail",".org",0,1,"none","bounce.","fail",".com","selector1","pass"]\n' +
    '[".com",1,1,"none",".com","pass",".com","s1","pass"]\n[".com",1,1,"none","',
);
/** Memory for 4 kB, which most blocks have: allocating more takes longer than packing. */
const PACKING = { dictionary: DICTIONARY, windowBits: 13, memLevel: 4, chunkSize: 1024 };
/** A day has texts of 200,000 characters at most. */
const UNPACKING = { dictionary: DICTIONARY, maxOutputLength: 1024 * 1024 };

/** No line has a line end. */
export function writeTexts(to: ByteWriter, lines: readonly string[]): void {
  to.writeNumber(Math.ceil(lines.length / LINES));
  for (let at = 0; at < lines.length; at += LINES) {
    const block = Buffer.from(lines.slice(at, at + LINES).join('\n'));
    const isPlain = block.length <= MAX_PLAIN_BYTES;
    to.writeByte(isPlain ? FORMS.plain : FORMS.deflated);
    to.writeBytes(isPlain ? block : deflateRawSync(block, PACKING));
  }
}

/** Moves behind texts. Returns a function that finds one by its number, from 0, and unpacks each block once. */
export function openTexts(reader: ByteReader): (line: number) => string {
  const starts: number[] = [];
  for (let left = reader.readNumber(); left > 0; left -= 1) {
    starts.push(reader.at);
    reader.readByte();
    reader.moveTo(reader.readEnd());
  }
  const unpacked: string[][] = [];
  return (line) => {
    const block = Math.floor(line / LINES);
    unpacked[block] ??= unpackBlock(reader, starts[block] ?? Number.NaN);
    return unpacked[block][line % LINES] as string;
  };
}

/** Leaves the reader where it is. */
function unpackBlock(reader: ByteReader, start: number): string[] {
  const { at } = reader;
  reader.moveTo(start);
  const form = reader.readByte();
  const stored = reader.readBytes();
  reader.moveTo(at);
  const lines = form === FORMS.plain ? stored : inflateRawSync(stored, UNPACKING);
  return lines.toString().split('\n');
}
