import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { DaySource } from './day-sources.ts';

/** A day's sources in JSON. What many addresses share, patterns and names of reporters, they name by its place. */
interface Stored {
  readonly texts: readonly string[];
  readonly sources: readonly StoredSource[];
}

type StoredSource = readonly [
  address: string,
  counts: readonly [messages: number, aligned: number, dkimAligned: number, spfAligned: number],
  patterns: readonly (readonly [text: number, messages: number])[],
  reporters: readonly (readonly [text: number, messages: number, aligned: number])[],
];

/** Packing adds zstd's own checksum, so that damaged bytes are not read as other numbers. */
const PACKING = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
/** A thousand addresses with 64 patterns and 64 reporters each take less than 5 MB. */
const UNPACKING = { maxOutputLength: 16 * 1024 * 1024 };

/**
 * The stored form of what `keepLargest` leaves of a day, in memory of its own: Node's result is a view of 16 KiB, all of which goes
 * from the thread that counts to the one that stores, for each day of a year.
 */
export function packSources(sources: readonly DaySource[]): Uint8Array {
  const places = new Map<string, number>();
  const placeOf = (text: string) => {
    const place = places.get(text) ?? places.size;
    places.set(text, place);
    return place;
  };
  const listed = sources.map((source): StoredSource => {
    const { address, messages, aligned, dkimAligned, spfAligned } = source;
    return [
      address,
      [messages, aligned, dkimAligned, spfAligned],
      [...source.patterns].map(([text, count]) => [placeOf(text), count]),
      [...source.reporters].map(([name, of]) => [placeOf(name ?? ''), of.messages, of.aligned]),
    ];
  });
  const stored: Stored = { texts: [...places.keys()], sources: listed };
  return new Uint8Array(zstdCompressSync(JSON.stringify(stored), PACKING));
}

/** undefined when they cannot be read: then they are counted again. */
export function unpackSources(bytes: Uint8Array): DaySource[] | undefined {
  try {
    return toSources(JSON.parse(zstdDecompressSync(bytes, UNPACKING).toString()));
  } catch {
    return undefined;
  }
}

function toSources({ texts, sources }: Stored): DaySource[] {
  return sources.map(([address, counts, patterns, reporters]) => {
    const [messages, aligned, dkimAligned, spfAligned] = counts;
    return {
      address,
      messages,
      aligned,
      dkimAligned,
      spfAligned,
      patterns: patterns.map(([text, messages]) => [texts[text] as string, messages]),
      reporters: reporters.map(([name, messages, aligned]) => [
        texts[name] || null,
        { messages, aligned },
      ]),
    };
  });
}
