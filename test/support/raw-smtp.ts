import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { PATIENCE_MS } from './every-suite.ts';

/** The last line of a reply: a code, a space, and a text. */
const LAST_LINE = /^\d{3}(?: |$)/;

/** An SMTP client that sends bytes as they are, and reads replies one by one. */
export class RawSmtp {
  readonly socket: Socket;
  #text = '';
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay();
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
      this.#wake();
    });
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** One line, and the reply to it. */
  async ask(line: string): Promise<string> {
    this.write(`${line}\r\n`);
    return await this.reply();
  }

  /** The next reply, its lines joined; `closed` when the server closes the connection without one. */
  async reply(): Promise<string> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const reply = this.#take();
      if (reply !== undefined) return reply;
      if (this.#isClosed) return 'closed';
      if (performance.now() > deadline) throw new Error(`no reply in time after ${this.#text}`);
      await this.#change(1_000);
    }
  }

  /** Waits until the server closes the connection, and returns what it said before. */
  async closed(): Promise<string> {
    if (!this.#isClosed) await once(this.socket, 'close');
    return this.#text;
  }

  #take(): string | undefined {
    let end = 0;
    for (const line of this.#text.split('\r\n').slice(0, -1)) {
      end += line.length + 2;
      if (!LAST_LINE.test(line)) continue;
      const reply = this.#text.slice(0, end).trimEnd();
      this.#text = this.#text.slice(end);
      return reply;
    }
    return undefined;
  }

  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** A connection that is closed when the test is over. */
export function aRawSmtp(port: number, localAddress = '127.0.0.1'): RawSmtp {
  const client = new RawSmtp(connect({ port, host: '127.0.0.1', localAddress }));
  onTestFinished(() => {
    client.socket.destroy();
  });
  return client;
}

/** A client that has been greeted, and has named sender and recipients. */
export async function aTransaction(port: number, ...recipients: string[]): Promise<RawSmtp> {
  const client = aRawSmtp(port);
  await client.reply();
  await client.ask('EHLO reporter.example');
  await client.ask('MAIL FROM:<noreply@reporter.example>');
  for (const recipient of recipients) await client.ask(`RCPT TO:<${recipient}>`);
  return client;
}
