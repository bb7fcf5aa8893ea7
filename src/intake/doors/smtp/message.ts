import { Reply } from './reply.ts';

/** smtp-server's stream of one message, dots already removed. Only `CR LF . CR LF` ends it. */
export interface MessageStream extends NodeJS.ReadableStream {
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Buffer>;
}

/** One message while it comes in. Its reading throws a Reply when the message must not be stored. */
export class Message {
  readonly startedAtMs: number;
  readonly #stream: MessageStream;
  readonly #maxBytes: number;
  size = 0;
  #refusal: Reply | undefined;
  #reading: AsyncGenerator<Buffer> | undefined;

  constructor(stream: MessageStream, { maxBytes, nowMs }: { maxBytes: number; nowMs: number }) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    this.startedAtMs = nowMs;
  }

  /** Whether the client went away within the message. */
  get isLost(): boolean {
    return this.#stream.destroyed && !this.#stream.readableEnded;
  }

  get isComplete(): boolean {
    return this.#stream.readableEnded;
  }

  /** The next chunk is refused with this reply, and so is the message. */
  refuse(reply: Reply): void {
    this.#refusal ??= reply;
  }

  /** Ends only when the client ended the message; a lost connection throws. `onComplete` is called at the end. */
  read(onComplete: () => void): AsyncIterable<Buffer> {
    this.#reading = this.#read(onComplete);
    return this.#reading;
  }

  async *#read(onComplete: () => void): AsyncGenerator<Buffer> {
    const lineBreaks = new LineBreaks();
    for await (const chunk of this.#stream.iterator({ destroyOnReturn: false })) {
      this.size += chunk.length;
      this.#check(lineBreaks.hasBare(chunk));
      yield chunk;
    }
    this.#check(lineBreaks.endsWithCr);
    // A stream that was destroyed before anybody read it could look like one that ended.
    if (!this.#stream.readableEnded) throw new Error('The connection was lost within the message.');
    onComplete();
  }

  #check(hasBareBreak: boolean): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (hasBareBreak)
      throw new Reply(554, 'Lines must end with CR LF: the message has a CR or LF alone');
    if (this.size > this.#maxBytes)
      throw new Reply(552, `The message is larger than ${this.#maxBytes} bytes`);
  }

  /**
   * Discards the rest of a refused message: the client expects the answer at its end. `onExcess` is called when so
   * many bytes came that the client is not going to stop.
   */
  async drain(maxBytes: number, onExcess: () => void): Promise<void> {
    const stream = this.#stream;
    // Whoever read may have stopped in the middle.
    await this.#reading?.return(undefined);
    if (stream.readableEnded || stream.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    stream.on('data', (chunk: Buffer) => {
      this.size += chunk.length;
      if (this.size > maxBytes) onExcess();
    });
    for (const event of ['end', 'error', 'close']) stream.once(event, () => resolve());
    stream.resume();
    await promise;
  }
}

const CR = 0x0d;
const LF = 0x0a;

/**
 * Finds CR without LF and LF without CR in a message that comes in chunks. RFC 5321, section 2.3.8: the two occur
 * together only. A mail system that takes `LF . CR LF` for the end of the message lets a client smuggle in a second
 * message with another sender.
 */
class LineBreaks {
  endsWithCr = false;

  /** Whether the chunk, after those before it, has a bare CR or LF. The last byte is judged with the next chunk. */
  hasBare(chunk: Uint8Array): boolean {
    let afterCr = this.endsWithCr;
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i];
      if (afterCr !== (byte === LF)) return true;
      afterCr = byte === CR;
    }
    this.endsWithCr = afterCr;
    return false;
  }
}
