import { constants, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { Refusal } from '../domain/refusal.ts';
import type { Budget } from './budget.ts';
import type { Content } from './content.ts';

/**
 * Up to here data is inflated in one synchronous call: 17 µs for a usual report, where a stream
 * costs ten times that in hops to the thread pool. Finding out that it was more wastes about 2 ms.
 */
const SMALL_BYTES = 1024 * 1024;
/** Data that ends early gives what there is, and no error: the XML decides. */
const OPTIONS = { chunkSize: 64 * 1024, finishFlush: constants.Z_SYNC_FLUSH };

interface InflateOptions {
  readonly budget: Budget;
  /** Told at the end how many of the bytes were the data's. */
  readonly onEnd?: ((consumed: number) => void) | undefined;
}

/**
 * Raw deflate data (RFC 1951) inflated; what follows its end is left alone. Headers and trailers are
 * the caller's: node's own gunzip refuses a gzip with CR LF after its trailer, which Mimecast sends.
 */
export async function* inflate(bytes: Uint8Array, { budget, onEnd }: InflateOptions): Content {
  const small = inflateSmall(bytes);
  if (small === undefined) return yield* inflateLarge(bytes, { budget, onEnd });
  budget.spend(small.output.length);
  if (small.output.length > 0) yield small.output;
  onEnd?.(small.consumed);
}

interface Inflated {
  readonly output: Uint8Array;
  readonly consumed: number;
}

function inflateSmall(bytes: Uint8Array): Inflated | undefined {
  if (bytes.length > SMALL_BYTES) return undefined;
  try {
    // The types leave out that `info` gives the engine, whose count is how much was consumed.
    const { buffer, engine } = inflateRawSync(bytes, {
      ...OPTIONS,
      maxOutputLength: SMALL_BYTES,
      info: true,
    }) as unknown as { buffer: Buffer; engine: InflateRaw };
    return { output: buffer, consumed: engine.bytesWritten };
  } catch (error) {
    if (isTooLong(error)) return undefined;
    throw damaged(error);
  }
}

async function* inflateLarge(bytes: Uint8Array, { budget, onEnd }: InflateOptions): Content {
  const stream = createInflateRaw(OPTIONS);
  stream.end(bytes);
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      budget.spend(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof Refusal ? error : damaged(error);
  }
  onEnd?.(stream.bytesWritten);
}

const isTooLong = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';

const damaged = (error: unknown): Refusal =>
  new Refusal('bad_archive', `The compressed data is damaged: ${(error as Error).message}.`);
