import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise } from 'yauzl';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Budget } from '../budget.ts';
import { type Content, toBuffer, toContent } from '../content.ts';
import { inflate } from './inflate.ts';
import { type Inherited, type Member, toDisplayName } from './member.ts';

/** The end of the directory. Its last two bytes say how long the comment is that follows. */
const END = 'PK\x05\x06';
const END_BYTES = 22;
const STORED = 0;
const DEFLATED = 8;
/** Files that macOS adds to an archive. */
const IS_CLUTTER = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$)/;

/**
 * The files of a zip in the order of its directory, by index. A name is never used as a path, so absolute, repeated
 * and missing names do no harm. The library reads the directory. The data is unpacked like a gzip's, because the
 * library's streams cost more than a usual report.
 */
export async function* readZip(
  bytes: Uint8Array,
  { budget, log }: Inherited,
): AsyncGenerator<Member> {
  const buffer = cutBehind(bytes);
  if (buffer.length < bytes.length) log.add('bytes_around_archive');
  const zip = await fromBufferPromise(buffer, { decodeStrings: false }).catch(rethrowAsRefusal);
  const entries = zip.eachEntry();
  const isPart = zip.entryCount > 1;
  const read = new Set<string>();
  for (let index = 1; ; index += 1) {
    const { done, value: entry } = await entries.next().catch(rethrowAsRefusal);
    if (done) return;
    budget.spend('entry');
    // Another name of a member that was read.
    const key = [entry.relativeOffsetOfLocalHeader, entry.compressedSize, entry.crc32].join();
    if (read.has(key)) continue;
    read.add(key);
    budget.addMember();
    // The names are bytes, because the library rejects a whole archive for one invalid name. Its types declare strings.
    const name = String(entry.fileName);
    const isFolder = name.endsWith('/') && entry.uncompressedSize === 0;
    if (isFolder || IS_CLUTTER.test(name)) continue;
    const content = unpack(entry, budget, locate);
    yield { name: toDisplayName(name, `member ${index}`), content, isQuiet: false, isPart };
  }

  async function locate(entry: Entry): Promise<Uint8Array> {
    const header = await zip
      .readLocalFileHeaderPromise(entry, { minimal: true })
      .catch(rethrowAsRefusal);
    return buffer.subarray(header.fileDataStart, header.fileDataStart + entry.compressedSize);
  }
}

/** The archive without what follows its end: the library rejects a whole archive for it. */
function cutBehind(bytes: Uint8Array): Buffer {
  const buffer = toBuffer(bytes);
  const at = buffer.lastIndexOf(END);
  if (at < 0 || at + END_BYTES > buffer.length) return buffer;
  return buffer.subarray(0, at + END_BYTES + buffer.readUInt16LE(at + END_BYTES - 2));
}

async function* unpack(
  entry: Entry,
  budget: Budget,
  locate: (entry: Entry) => Promise<Uint8Array>,
): Content {
  if (entry.isEncrypted()) throw new Refusal('bad_archive', 'The zip member is encrypted.');
  let crc = 0;
  let size = 0;
  for await (const chunk of decompress(entry, await locate(entry), budget)) {
    crc = crc32(chunk, crc);
    size += chunk.length;
    yield chunk;
  }
  if (crc !== entry.crc32 || size !== entry.uncompressedSize)
    throw new Refusal('bad_archive', 'The zip member is damaged: its checksum or size is wrong.');
}

function decompress({ compressionMethod }: Entry, bytes: Uint8Array, budget: Budget): Content {
  if (compressionMethod === DEFLATED) return inflate(bytes, { budget });
  if (compressionMethod !== STORED)
    throw new Refusal('bad_archive', `Zip compression method ${compressionMethod} is not known.`);
  // Stored data counts as well: overlapping members can contain the same bytes a thousand times.
  budget.scan(bytes.length);
  budget.unpack(bytes.length);
  return toContent(bytes);
}

function rethrowAsRefusal(error: Error): never {
  throw new Refusal('bad_archive', `The zip archive is broken: ${error.message}.`);
}
