import { type Original, packOriginal } from '../../domain/reports/original.ts';
import type { Budget } from '../budget.ts';
import type { Content } from '../content.ts';

/** How much is read on after a refusal, so that the original of what was refused is whole. */
const MAX_READ_ON_BYTES = 1024 * 1024;

/**
 * A message of a mailbox, a part of a mail or a file of an archive that has several: what is kept of the input for the
 * documents in it. Its bytes are collected while they are read, and packed only when there is a document.
 */
export class InputPart {
  /** The place of the part in the input: the numbers of the parts that lead to it, `2.1`. */
  readonly path: string;
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #isWhole = false;
  #watched: AsyncGenerator<Uint8Array> | undefined;

  /** Of a content with more bytes than `maxBytes` nothing is held. */
  constructor(path: string, maxBytes = Number.POSITIVE_INFINITY) {
    this.path = path;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, 0);
  }

  /** The same content, whose chunks are collected. What was opened further inside is no content of the part. */
  watch(content: Content): Content {
    if (this.#isWhole || this.#watched !== undefined) return content;
    this.#watched = this.#collect(content);
    return this.#watched;
  }

  /** The part is a container, which is in memory as one piece. */
  hold(bytes: Uint8Array): void {
    if (this.#isWhole) return;
    this.#chunks = [bytes];
    this.#isWhole = true;
  }

  /** Reads on after a refusal, within a limit: of a bomb little more is unpacked. Never throws. */
  async readOn(content?: Content): Promise<void> {
    if (content !== undefined) this.watch(content);
    try {
      for (let size = 0; size < MAX_READ_ON_BYTES; ) {
        const next = await this.#watched?.next();
        if (next === undefined || next.done) return;
        size += next.value.length;
      }
    } catch {
      // The refusal that was there first is the one that is reported. A budget remembers that it is spent.
    }
  }

  /** null when the part was not read to its end, is larger than `maxBytes`, or the input has too much to be kept. */
  pack(budget: Budget, maxBytes: number): Original | null {
    if (!this.#isWhole || this.size > maxBytes) return null;
    const [only, ...others] = this.#chunks;
    const bytes = only !== undefined && others.length === 0 ? only : Buffer.concat(this.#chunks);
    const original = packOriginal(bytes);
    return budget.keepOriginal(original.content.length) ? original : null;
  }

  async *#collect(content: Content): AsyncGenerator<Uint8Array> {
    // Without `for await`: a reader that stops must not close the content, because `readOn` reads the rest.
    const chunks = content[Symbol.asyncIterator]();
    let room = this.#maxBytes;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      room -= next.value.length;
      if (room >= 0) this.#chunks.push(next.value);
      else this.#chunks = [];
      yield next.value;
    }
    this.#isWhole = room >= 0;
  }
}
