import { readFileSync } from 'node:fs';
import { type FetchMessageObject, ImapFlow } from 'imapflow';
import { toSizeText } from '../../../domain/size.ts';
import {
  DoorFault,
  type ImapError,
  lastingFault,
  type ServerRefusal,
  ThrottleFault,
} from './fault.ts';
import type { ImapLimits, MailboxOptions, Secrets } from './options.ts';

/** What a server may say besides the answer: for example, that a person has flagged a thousand mails. */
const MARGIN_BYTES = 256 * 1024;
/** The additional time for bytes that were asked for: 50 kB a second. */
const BYTES_PER_MS = 50;
const CHECK_MS = 100;

const { version } = JSON.parse(
  readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string };

export function createClient(
  { host, port, user, security }: MailboxOptions,
  limits: ImapLimits,
  { ca, ...credentials }: Secrets,
): ImapFlow {
  const client = new ImapFlow({
    host,
    port,
    secure: security === 'tls',
    ...(security !== 'tls' && { doSTARTTLS: security === 'starttls' }),
    auth: { user, ...credentials },
    tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    clientInfo: { name: 'Plumbline', version, vendor: '', 'support-url': '' },
    logger: false,
    emitLogs: true,
    disableAutoIdle: true,
    // Each is a command before the first mail, and some servers end a connection after a few commands. Compressed
    // bytes are not bounded by those that arrive.
    disableAutoEnable: true,
    disableCompression: true,
    maxIdleTime: limits.idleMs,
    socketTimeout: limits.socketMs,
    maxLiteralSize: limits.maxMailBytes + MARGIN_BYTES,
    maxResponseSize: limits.maxMailBytes + 2 * MARGIN_BYTES,
    maxLineLength: MARGIN_BYTES,
  });
  // The same error ends the command in progress. Without a listener it would end the process.
  client.on('error', () => {});
  return client;
}

/** A connection to a server, and how each command is sent. */
export class ImapSession {
  readonly client: ImapFlow;
  readonly limits: ImapLimits;
  /** The last command that the server refused: some of imapflow's methods say only that there was one. */
  #refusal: ServerRefusal = {};
  /** Ends the command in progress. */
  #end: (fault: DoorFault) => void = () => {};

  constructor(client: ImapFlow, limits: ImapLimits) {
    this.client = client;
    this.limits = limits;
    client.on('log', ({ err, throttleDelay }: { err?: ImapError; throttleDelay?: number }) => {
      if (err?.responseStatus !== undefined) this.#refusal = err;
      // imapflow would wait without a word, and longer than a command may take.
      if (throttleDelay !== undefined) this.#end(new ThrottleFault(throttleDelay));
    });
  }

  /** Ends the connection when a command brings more than these bytes, or takes too long. */
  async bounded<T>(
    command: () => Promise<T>,
    { bytes = 0, ms = 0 }: { readonly bytes?: number; readonly ms?: number } = {},
  ): Promise<T> {
    const client = this.client;
    const maxBytes = client.stats().received + MARGIN_BYTES + bytes;
    const until = performance.now() + this.limits.commandMs + ms + bytes / BYTES_PER_MS;
    const { promise: overrun, reject } = Promise.withResolvers<never>();
    this.#end = (fault) => {
      reject(fault);
      client.close();
    };
    const end = (why: string) => this.#end(lastingFault(why));
    const checking = setInterval(() => {
      if (client.stats().received > maxBytes)
        end(`The server says ${toSizeText(MARGIN_BYTES)} more than it was asked for.`);
      else if (performance.now() > until) end('The server does not come to the end of its answer.');
    }, CHECK_MS);
    return await Promise.race([command(), overrun]).finally(() => clearInterval(checking));
  }

  async fetch(
    range: string,
    query: Parameters<ImapFlow['fetch']>[1],
    bytes: number,
    take: (mail: FetchMessageObject) => void,
    by = { uid: true },
  ): Promise<void> {
    const command = async () => {
      for await (const mail of this.client.fetch(range, query, by)) take(mail);
    };
    await this.bounded(command, { bytes });
    this.requireOpen();
  }

  /** Undefined when the server did it; otherwise what it said. */
  async attempt(command: () => Promise<unknown>): Promise<ServerRefusal | undefined> {
    this.#refusal = {};
    const isDone = await this.bounded(command).catch((error: ImapError) => {
      if (error.responseStatus === undefined) throw error;
      this.#refusal = error;
      return false;
    });
    this.requireOpen();
    return isDone ? undefined : this.#refusal;
  }

  /**
   * A connection that has ended must not count as an empty mailbox: imapflow then gives no mails and no error. Its
   * state changes when the server says BYE, some time before the connection is closed.
   */
  requireOpen(): void {
    const { usable, mailbox, state, states } = this.client;
    if (!usable || !mailbox || state !== states.SELECTED)
      throw new DoorFault('The server ended the connection.');
  }
}
