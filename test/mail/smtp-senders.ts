import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { onTestFinished } from 'vitest';

/** As many as may send at the same time from one address. */
const CONNECTIONS = 5;
const PAUSE_MS = 50;

/** Clients that send each mail again until the server has accepted it. */
export class SmtpSenders {
  readonly #address: string;
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #queue: { readonly from: string; readonly raw: Buffer }[] = [];
  readonly #sending: Promise<unknown>;
  #isEnding = false;
  #isOpen = Promise.withResolvers<void>();
  /** How often each mail was sent, by its sender. */
  readonly tries = new Map<string, number>();
  /** Mails that the server refused for the time being (451), and connections that were lost. */
  refused = 0;
  lost = 0;
  accepted = 0;

  constructor({ port, address }: { readonly port: number; readonly address: string }) {
    this.#address = address;
    this.#transport = createTransport({
      ...{ host: '127.0.0.1', port, ignoreTLS: true },
      ...{ pool: true, maxConnections: CONNECTIONS },
    });
    this.#sending = Promise.all(Array.from({ length: CONNECTIONS }, () => this.#sendAll()));
    // Whoever waits for the end sees the error.
    this.#sending.catch(() => undefined);
    onTestFinished(() => {
      this.#isEnding = true;
      this.#queue.length = 0;
      this.#transport.close();
    });
  }

  /** How many answers there were. */
  get answers(): number {
    return this.accepted + this.refused;
  }

  /** There is a server to send to. */
  open(): void {
    this.#isOpen.resolve();
  }

  /** There is none: clients wait. */
  close(): void {
    this.#isOpen = Promise.withResolvers();
  }

  send(from: string, raw: Buffer): void {
    this.#queue.push({ from, raw });
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) await this.#sendAgain(next.from, next.raw);
      else if (this.#isEnding) return;
      else await sleep(PAUSE_MS);
    }
  }

  async #sendAgain(from: string, raw: Buffer): Promise<void> {
    for (;;) {
      await this.#isOpen.promise;
      this.tries.set(from, (this.tries.get(from) ?? 0) + 1);
      const envelope = { from, to: [this.#address] };
      const code = await this.#transport.sendMail({ envelope, raw }).then(
        () => 250,
        (error: { responseCode?: number }) => error.responseCode,
      );
      if (code === 250) break;
      if (code === 451) this.refused += 1;
      else if (code === undefined) this.lost += 1;
      else throw new Error(`The server answers with ${code}.`);
      await sleep(PAUSE_MS);
    }
    this.accepted += 1;
  }

  /** Waits until all are accepted. Throws when one was refused for good. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#sending;
    this.#transport.close();
  }
}
