import { connect, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { PATIENCE_MS } from './every-suite.ts';

/** An answer read from a socket. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As text, decompressed. */
  readonly body: string;
}

/**
 * Sends requests as bytes, including invalid ones, over one connection for as long as the server keeps it
 * open. An answer is undefined when the server closes the connection without one. No answer in time is an
 * error.
 */
export class RawClient {
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  async send(request: Buffer | string, isHead = false): Promise<RawAnswer | undefined> {
    const socket = this.#open();
    socket.write(request);
    const answer = await readAnswer(socket, isHead);
    if (answer === undefined || /close/i.test(answer.headers['connection'] ?? '')) this.close();
    return answer;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    if (this.#socket === undefined || this.#socket.destroyed || !this.#socket.writable) {
      this.#socket = connect(this.#port, '127.0.0.1').setNoDelay();
      // An error of the connection shows as an incomplete answer.
      this.#socket.on('error', () => undefined);
    }
    return this.#socket;
  }
}

function readAnswer(socket: Socket, isHead: boolean): Promise<RawAnswer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer | undefined>();
  let bytes: Buffer = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    bytes = withoutInterim(Buffer.concat([bytes, chunk]));
    const answer = parseAnswer(bytes, isHead);
    if (answer !== undefined) resolve(answer);
  };
  const onClose = () => resolve(undefined);
  const timer = setTimeout(() => reject(new Error('no answer in time')), PATIENCE_MS);
  socket.on('data', onData).once('close', onClose);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.off('data', onData).off('close', onClose);
  });
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
/** A client that sends `Expect: 100-continue` gets an interim answer before the final one. */
function withoutInterim(bytes: Buffer): Buffer {
  return bytes.indexOf(CONTINUE) === 0 ? bytes.subarray(CONTINUE.length) : bytes;
}

/** undefined while bytes are missing. */
function parseAnswer(bytes: Buffer, isHead: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [start = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.toLowerCase(), value.join(':').trim()];
    }),
  );
  const status = Number(start.split(' ')[1]);
  const isBodiless = isHead || status === 304;
  const rest = bytes.subarray(end + 4);
  const length = isBodiless ? 0 : findLength(headers, rest);
  if (length === undefined || rest.length < length) return undefined;
  return { status, headers, body: decode(headers, rest.subarray(0, length)) };
}

function decode(headers: Readonly<Record<string, string>>, bytes: Buffer): string {
  const encoding = bytes.length === 0 ? undefined : headers['content-encoding'];
  if (encoding === 'gzip') return gunzipSync(bytes).toString();
  return (encoding === 'br' ? brotliDecompressSync(bytes) : bytes).toString();
}

/** Node's own error answers are chunked; their content is not needed. */
function findLength(headers: Readonly<Record<string, string>>, rest: Buffer): number | undefined {
  if (headers['transfer-encoding'] === undefined) return Number(headers['content-length'] ?? 0);
  const end = rest.indexOf('0\r\n\r\n');
  return end === -1 ? undefined : end + 5;
}
