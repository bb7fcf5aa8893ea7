import { SMTPStream, type SMTPStreamOptions } from 'smtp-server/lib/smtp-stream.js';

/** A chunk of a message, of which `left` bytes are to come. */
interface Chunk {
  left: number;
  readonly isLast: boolean;
}

/** undefined for another command, and for one that does not say how long the chunk is. */
export function parseChunk(command: string): Chunk | undefined {
  const [, size, last] = /^BDAT +(\d{1,15})( +LAST)? *\r?$/i.exec(command) ?? [];
  return size === undefined ? undefined : { left: Number(size), isLast: last !== undefined };
}

interface ChunkEvents {
  /** A chunk came, and it is not the last one. */
  readonly onChunk: () => void;
  /** A chunk came that belongs to no message. */
  readonly onDiscarded: () => void;
  /** The connection has to end: what comes cannot be told from commands, or comes in too many chunks. */
  readonly onFault: (text: string) => void;
}

/** So many chunks of a message may be small; for each further one it needs a kibibyte. Exim sends one or two. */
const MAX_SMALL_CHUNKS = 250;
const CHUNK_BYTES = 1024;
const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

interface Chunked {
  /** undefined while the command after a chunk comes in. */
  chunk: Chunk | undefined;
  line: string;
  count: number;
}

/**
 * smtp-server's parser, which also takes a message in chunks of announced size (BDAT, RFC 3030). From the first chunk to
 * the last the parser is in data mode, as in DATA, so its rules for the end of a message and of a connection hold.
 * Between chunks only BDAT is known: a client that gives up a message (RSET) has to connect again.
 */
export class ChunkedStream extends SMTPStream {
  readonly #events: ChunkEvents;
  #chunked: Chunked | undefined;

  constructor(options: SMTPStreamOptions, events: ChunkEvents) {
    super(options);
    this.#events = events;
  }

  get isChunked(): boolean {
    return this.#chunked !== undefined;
  }

  /** What comes next is this chunk: of the message that `startDataMode` begins, else it is discarded. */
  startChunk(chunk: Chunk): void {
    this.#chunked = { chunk, line: '', count: 1 };
    this._dataMode = true;
  }

  /** A chunk may be empty, so there is something to do without bytes. */
  override _write(...[bytes, encoding, next]: Parameters<SMTPStream['_write']>): void {
    const isEnd = this.#chunked?.chunk?.left === 0 && !this.isClosed;
    if (isEnd && bytes.length === 0) this._feedDataStream(bytes, next);
    else super._write(bytes, encoding, next);
  }

  override _feedDataStream(...[bytes, done]: Parameters<SMTPStream['_feedDataStream']>): void {
    if (this.#chunked === undefined) super._feedDataStream(bytes, done);
    else this.#feed(this.#chunked, { bytes, done });
  }

  #feed(chunked: Chunked, { bytes, done }: { bytes: Buffer; done: () => void }): void {
    let rest = bytes;
    do {
      const { chunk } = chunked;
      rest = chunk === undefined ? this.#readCommand(chunked, rest) : this.#readBytes(chunk, rest);
      if (chunked.chunk?.left !== 0) continue;
      if (chunked.chunk.isLast || this._dataStream === null) {
        this.#end(rest, done);
        return;
      }
      chunked.chunk = undefined;
      this.#events.onChunk();
    } while (rest.length > 0 && !this.isClosed);
    this.#whenDrained(done);
  }

  /** Returns what comes after the chunk. */
  #readBytes(chunk: Chunk, bytes: Buffer): Buffer {
    const part = bytes.subarray(0, chunk.left);
    chunk.left -= part.length;
    this._countDataBytes(part.length);
    if (this._dataStream?.writable && part.length > 0) this._dataStream.write(part);
    return bytes.subarray(part.length);
  }

  /** Returns what comes after the command. */
  #readCommand(chunked: Chunked, bytes: Buffer): Buffer {
    const newline = bytes.indexOf(NEWLINE);
    const end = newline < 0 ? bytes.length : newline;
    chunked.line += bytes.toString('latin1', 0, Math.min(end, this._maxCommandLength + 1));
    if (chunked.line.length > this._maxCommandLength) return this.#fail('Command line too long');
    if (newline < 0) return NOTHING;
    chunked.chunk = parseChunk(chunked.line);
    chunked.line = '';
    chunked.count += 1;
    if (chunked.chunk === undefined) return this.#fail('Only BDAT may follow BDAT without LAST');
    if (chunked.count > MAX_SMALL_CHUNKS + this.dataBytes / CHUNK_BYTES)
      return this.#fail('Too many small chunks');
    return bytes.subarray(end + 1);
  }

  #fail(text: string): Buffer {
    this.#events.onFault(text);
    return NOTHING;
  }

  #end(rest: Buffer, done: () => void): void {
    this.#chunked = undefined;
    if (this._dataStream !== null) {
      this._endDataMode(false, rest, done);
      return;
    }
    this._dataMode = false;
    this._remainder = '';
    this.#events.onDiscarded();
    // Not at once: a packet can have thousands of empty chunks, each within the call for the one before it.
    setImmediate(() => this._write(rest, 'buffer', done));
  }

  /** A stream that is destroyed never drains; it only closes. */
  #whenDrained(done: () => void): void {
    const stream = this._dataStream;
    const go = () => {
      stream?.off('drain', go).off('close', go);
      done();
    };
    if (stream?.writableNeedDrain && !stream.destroyed) stream.once('drain', go).once('close', go);
    else done();
  }
}
