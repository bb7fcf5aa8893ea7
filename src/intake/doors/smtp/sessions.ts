import { toClientNetwork } from '../../../domain/client-address.ts';
import { OpenConnections } from '../../../domain/open-connections.ts';
import type { SmtpLimits } from './limits.ts';
import { Reply } from './reply.ts';

const MINUTE_MS = 60_000;
/** Addresses whose connections are counted. With more in a minute the counting begins again. */
const MAX_COUNTED_ADDRESSES = 10_000;

export interface Session {
  /** What limits count the client's address under. */
  readonly address: string;
  /** Whether the limits of an address do not hold for it. */
  readonly isTrusted: boolean;
  commands: number;
  messages: number;
  unknownRecipients: number;
  /** The account whose own address is among the recipients of the message. */
  accountId: string | undefined;
  isReceiving: boolean;
  /** Whether a message is complete and being stored. */
  isStoring: boolean;
  readonly deadline: NodeJS.Timeout;
}

interface SessionsDeps {
  readonly isTrusted: (address: string) => boolean;
  readonly disconnect: (id: string, reply: Reply) => void;
  /** So that the place is free at once. */
  readonly refuse: (id: string, reply: Reply) => void;
}

/** The open connections, by smtp-server's ids, and how many each address has. */
export class Sessions {
  readonly #limits: SmtpLimits;
  readonly #deps: SessionsDeps;
  readonly #sessions = new Map<string, Session>();
  readonly #connections = new OpenConnections<string>();
  readonly #begun = new Map<string, number>();
  readonly #minute: NodeJS.Timeout;

  constructor(limits: SmtpLimits, deps: SessionsDeps) {
    this.#limits = limits;
    this.#deps = deps;
    this.#minute = setInterval(() => this.#begun.clear(), MINUTE_MS).unref();
  }

  /**
   * Throws a Reply, 421, when the address has too many connections, or made too many in this minute, or when all
   * places are taken by clients that are not silent.
   */
  open(id: string, remoteAddress: string): void {
    const isTrusted = this.#deps.isTrusted(remoteAddress);
    if (!isTrusted) this.#checkAddress(remoteAddress);
    if (this.#connections.size >= this.#limits.maxConnections) this.#endSilent();
    this.#connections.open(id, remoteAddress, { isTrusted });
    const deadline = setTimeout(() => this.#end(id), this.#limits.sessionMs).unref();
    const address = toClientNetwork(remoteAddress);
    this.#sessions.set(id, {
      address,
      isTrusted,
      commands: 0,
      messages: 0,
      unknownRecipients: 0,
      accountId: undefined,
      isReceiving: false,
      isStoring: false,
      deadline,
    });
  }

  #checkAddress(remoteAddress: string): void {
    const isOver =
      this.#connections.countOf(remoteAddress) >= this.#limits.maxConnectionsPerAddress;
    if (isOver || this.#countBegun(toClientNetwork(remoteAddress)))
      throw new Reply(421, 'Too many connections from your address, try again later');
  }

  /** Whether the address has begun too many connections in this minute. */
  #countBegun(address: string): boolean {
    if (this.#begun.size >= MAX_COUNTED_ADDRESSES) this.#begun.clear();
    const begun = (this.#begun.get(address) ?? 0) + 1;
    this.#begun.set(address, begun);
    return begun > this.#limits.maxConnectionRate;
  }

  #endSilent(): void {
    const reply = new Reply(421, 'Too many connections, try again later');
    const id = this.#connections.findToEnd((one, silentMs) => this.#mayEnd(one, silentMs));
    if (id === undefined) throw reply;
    this.close(id);
    this.#deps.refuse(id, reply);
  }

  #mayEnd(id: string, silentMs: number): boolean {
    const { isReceiving, isStoring } = this.#sessions.get(id) ?? {};
    return !isStoring && (!isReceiving || silentMs >= this.#limits.slowMs);
  }

  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  close(id: string): void {
    clearTimeout(this.#sessions.get(id)?.deadline);
    this.#sessions.delete(id);
    this.#connections.close(id);
  }

  /** A client that sends commands without end is disconnected. */
  countCommand(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#connections.use(id);
    session.commands += 1;
    if (session.commands > this.#limits.maxCommands)
      this.#deps.disconnect(id, new Reply(421, 'Too many commands'));
  }

  /** Ends every connection in which no message is being stored. */
  endIdle(reply: Reply): void {
    for (const [id, { isStoring }] of this.#sessions)
      if (!isStoring) this.#deps.disconnect(id, reply);
  }

  stop(): void {
    clearInterval(this.#minute);
  }

  #end(id: string): void {
    const session = this.#sessions.get(id);
    if (session?.isStoring) session.deadline.refresh();
    else this.#deps.disconnect(id, new Reply(421, 'The connection takes too long'));
  }
}
