import { type IngestedDocument, ingest } from '../../src/intake/ingest.ts';
import { localParser } from '../../src/intake/parser/parser.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { NOW } from './builders.ts';

/** Stores an input as intake does, with what is read in it. */
export async function takeIn(
  { db }: Pick<Store, 'db'>,
  bytes: Uint8Array | string,
  { name = 'report.xml', receivedAt = NOW } = {},
): Promise<IngestedDocument[]> {
  const input = { name, bytes: Buffer.from(bytes) };
  const given = { db, now: () => new Date(receivedAt), parser: localParser };
  return await Array.fromAsync(ingest(given, only({ name, read: async () => input })));
}

async function* only<T>(item: T): AsyncGenerator<T> {
  yield item;
}
