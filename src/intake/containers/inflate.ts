import { Readable } from 'node:stream';
import { constants, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Budget } from '../budget.ts';
import type { Content } from '../content.ts';

/**
 * Up to these sizes, data is inflated in one synchronous call: 17 µs for a usual report, where a stream costs ten times
 * that for the thread pool. An attempt with other data gives nothing, and costs as much as all that it may have read.
 */
const SMALL = { packed: 128 * 1024, unpacked: 1024 * 1024 };
/** What a stream costs, in members. */
const STREAM_MEMBERS = 10;
/** Truncated data gives what there is, without an error: the XML parser finds the error. */
const OPTIONS = { chunkSize: 64 * 1024, finishFlush: constants.Z_SYNC_FLUSH };

const MIN_CHUNK_BYTES = 1024;
const SLICE_BYTES = 64 * 1024;

interface InflateOptions {
  readonly budget: Budget;
  /** Gets, at the end, how many of the bytes belonged to the data. */
  readonly onEnd?: ((consumed: number) => void) | undefined;
}

/**
 * Inflates raw deflate data (RFC 1951); bytes after its end are ignored. The caller handles headers and trailers:
 * node's own gunzip rejects a gzip with CR LF after its trailer, which Mimecast sends.
 */
export async function* inflate(bytes: Uint8Array, { budget, onEnd }: InflateOptions): Content {
  const small = inflateSmall(bytes, budget);
  if (small === undefined) return yield* inflateLarge(bytes, { budget, onEnd });
  budget.scan(small.consumed);
  if (small.output.length > 0) yield small.output;
  onEnd?.(small.consumed);
}

/** undefined when the data, packed or unpacked, is larger than SMALL. */
function inflateSmall(bytes: Uint8Array, budget: Budget) {
  const start = bytes.subarray(0, SMALL.packed);
  let [consumed, unpacked] = [start.length, SMALL.unpacked];
  try {
    // The types do not declare that `info` returns the engine, which counts the consumed bytes.
    const { buffer, engine } = inflateRawSync(start, {
      ...OPTIONS,
      chunkSize: Math.min(OPTIONS.chunkSize, MIN_CHUNK_BYTES + 16 * start.length),
      maxOutputLength: SMALL.unpacked,
      info: true,
    }) as unknown as { buffer: Buffer; engine: InflateRaw };
    [consumed, unpacked] = [engine.bytesWritten, buffer.length];
    const isCut = start.length < bytes.length && consumed === start.length;
    return isCut ? undefined : { output: buffer, consumed };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw damaged(error);
  } finally {
    budget.spend('packedByte', consumed);
    budget.unpack(unpacked);
  }
}

async function* inflateLarge(bytes: Uint8Array, { budget, onEnd }: InflateOptions): Content {
  budget.spend('member', STREAM_MEMBERS);
  const input = Readable.from(toSlices(bytes, budget), { highWaterMark: 1 });
  const stream = createInflateRaw(OPTIONS);
  input.once('error', (error) => stream.destroy(error)).pipe(stream);
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      budget.unpack(chunk.length);
      yield chunk;
    }
    onEnd?.(stream.bytesWritten);
  } catch (error) {
    throw error instanceof Refusal ? error : damaged(error);
  } finally {
    input.destroy();
    stream.destroy();
  }
}

/** A call of the decompressor cannot be interrupted, and data may be long without output: each call gets little. */
function* toSlices(bytes: Uint8Array, budget: Budget): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    const slice = bytes.subarray(at, at + SLICE_BYTES);
    budget.scan(slice.length);
    budget.spend('packedByte', slice.length);
    yield slice;
  }
}

const damaged = (error: unknown): Refusal =>
  new Refusal('bad_archive', `The compressed data is damaged: ${(error as Error).message}.`);
