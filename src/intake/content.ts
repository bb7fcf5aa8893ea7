import { Refusal } from '../domain/reports/refusal.ts';
import { toSizeText } from '../domain/size.ts';

/** Unpacked step by step while it is read, so that the unpacked data of a bomb is never in memory as a whole. */
export type Content = AsyncIterable<Uint8Array>;

/** Enough to recognise any kind, and to hold the beginning of a report behind a long comment. */
const HEAD_BYTES = 16 * 1024;
const SLICE_BYTES = 64 * 1024;

/** The same bytes, with a buffer's methods. */
export const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

export async function* toContent(bytes: Uint8Array): Content {
  if (bytes.length > 0) yield bytes;
}

/**
 * The head of a content, and the whole from its beginning, whose first chunk has at least the head. `close` ends it, read
 * or not: otherwise an abandoned decompressor would stay open.
 */
export async function peek(content: Content) {
  const chunks = content[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < HEAD_BYTES) {
    const { done, value } = await chunks.next();
    if (done) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return { head, whole: resume(head, chunks), close: async () => void (await chunks.return?.()) };
}

async function* resume(head: Uint8Array, chunks: AsyncIterator<Uint8Array>): Content {
  if (head.length > 0) yield head;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
}

/** The whole content in one piece: for containers, which cannot be read from front to back. */
export async function collect(content: Content, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > maxBytes)
      throw new Refusal('too_large', `It is larger than ${toSizeText(maxBytes)}.`);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** The content without its first bytes. */
export const skip = (content: Content, bytes: number): Content =>
  bytes === 0 ? content : skipSome(content, bytes);

async function* skipSome(content: Content, bytes: number): Content {
  let left = bytes;
  for await (const chunk of content) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

/** The content in small slices: each costs little memory and time. */
export async function* slice(content: Content): Content {
  for await (const chunk of content)
    for (let at = 0; at < chunk.length; at += SLICE_BYTES)
      yield chunk.subarray(at, at + SLICE_BYTES);
}
