import { toClientNetwork } from '../../../domain/client-address.ts';
import type { SmtpLimits } from './limits.ts';
import { Reply } from './reply.ts';

const MINUTE_MS = 60_000;
/** Addresses whose connections are counted. With more in a minute the counting begins again. */
const MAX_COUNTED_ADDRESSES = 10_000;

export interface Session {
  readonly address: string;
  commands: number;
  messages: number;
  unknownRecipients: number;
  /** The account whose own address is among the recipients of the message. */
  accountId: string | undefined;
  /** Whether a message is complete and being stored. */
  isStoring: boolean;
  readonly deadline: NodeJS.Timeout;
}

/** The open connections, by smtp-server's ids, and how many each address has. */
export class Sessions {
  readonly #limits: SmtpLimits;
  readonly #disconnect: (id: string, reply: Reply) => void;
  readonly #sessions = new Map<string, Session>();
  readonly #open = new Map<string, number>();
  readonly #begun = new Map<string, number>();
  readonly #minute: NodeJS.Timeout;

  constructor(limits: SmtpLimits, disconnect: (id: string, reply: Reply) => void) {
    this.#limits = limits;
    this.#disconnect = disconnect;
    this.#minute = setInterval(() => this.#begun.clear(), MINUTE_MS).unref();
  }

  /** Throws a Reply, 421, when the address has too many connections, or made too many in this minute. */
  open(id: string, remoteAddress: string): void {
    const address = toClientNetwork(remoteAddress);
    const open = this.#open.get(address) ?? 0;
    if (open >= this.#limits.maxConnectionsPerAddress || this.#countBegun(address))
      throw new Reply(421, 'Too many connections from your address, try again later');
    this.#open.set(address, open + 1);
    const deadline = setTimeout(() => this.#end(id), this.#limits.sessionMs).unref();
    const counts = { commands: 0, messages: 0, unknownRecipients: 0 };
    this.#sessions.set(id, {
      address,
      ...counts,
      accountId: undefined,
      isStoring: false,
      deadline,
    });
  }

  /** Whether the address has begun too many connections in this minute. */
  #countBegun(address: string): boolean {
    if (this.#begun.size >= MAX_COUNTED_ADDRESSES) this.#begun.clear();
    const begun = (this.#begun.get(address) ?? 0) + 1;
    this.#begun.set(address, begun);
    return begun > this.#limits.maxConnectionRate;
  }

  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  close(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    clearTimeout(session.deadline);
    this.#sessions.delete(id);
    const left = (this.#open.get(session.address) ?? 0) - 1;
    if (left > 0) this.#open.set(session.address, left);
    else this.#open.delete(session.address);
  }

  /** A client that sends commands without end is disconnected. */
  countCommand(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    session.commands += 1;
    if (session.commands > this.#limits.maxCommands)
      this.#disconnect(id, new Reply(421, 'Too many commands'));
  }

  /** Ends every connection in which no message is being stored. */
  endIdle(reply: Reply): void {
    for (const [id, { isStoring }] of this.#sessions) if (!isStoring) this.#disconnect(id, reply);
  }

  stop(): void {
    clearInterval(this.#minute);
  }

  #end(id: string): void {
    const session = this.#sessions.get(id);
    if (session?.isStoring) session.deadline.refresh();
    else this.#disconnect(id, new Reply(421, 'The connection takes too long'));
  }
}
