const CR = 0x0d;
const LF = 0x0a;

/**
 * Finds CR without LF and LF without CR in a message that comes in chunks. RFC 5321, section 2.3.8: the two occur
 * together only. A mail system that takes `LF . CR LF` for the end of the message lets a client smuggle in a
 * second message with another sender.
 */
export class LineBreaks {
  #afterCr = false;

  /** Whether the chunk, after those before it, has a bare CR or LF. The last byte's turn comes with the next chunk. */
  hasBare(chunk: Uint8Array): boolean {
    let afterCr = this.#afterCr;
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i];
      if (afterCr !== (byte === LF)) return true;
      afterCr = byte === CR;
    }
    this.#afterCr = afterCr;
    return false;
  }

  /** Whether the message ended with a bare CR. */
  get endsWithCr(): boolean {
    return this.#afterCr;
  }
}
