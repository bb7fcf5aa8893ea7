import type { Logger } from 'pino';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { Failure } from '../../../domain/failure.ts';
import type { Deliver, Envelope } from '../../../domain/incoming.ts';
import { toInstant } from '../../../domain/instant.ts';
import { toLogText } from '../log-text.ts';
import type { SmtpLimits } from './limits.ts';
import { Message, type MessageStream } from './message.ts';
import { Receiving } from './receiving.ts';
import { createRecipients } from './recipients.ts';
import { notStored, Reply } from './reply.ts';
import type { Session, Sessions } from './sessions.ts';

export interface SmtpDeps {
  readonly deliver: Deliver;
  readonly findAccountByToken: (token: string) => Promise<string | undefined>;
  /** Why there is no space for more mails of a client. Without it there always is. */
  readonly findShortage?: (address?: string) => Promise<string | undefined>;
  readonly now: () => Date;
  readonly log: Pick<Logger, 'debug' | 'info' | 'error'>;
}

interface HandlersDeps extends SmtpDeps {
  readonly limits: SmtpLimits;
  readonly sessions: Sessions;
  readonly disconnect: (id: string, reply: Reply) => void;
}

/** What smtp-server asks at each step of a session. */
export class SmtpHandlers {
  readonly #deps: HandlersDeps;
  readonly #findRecipient: ReturnType<typeof createRecipients>;
  readonly #receiving: Receiving;
  readonly #storing = new Set<Promise<void>>();
  /** When each fault was logged. */
  readonly #logged = new Map<string, number>();

  constructor(options: Parameters<typeof createRecipients>[0], deps: HandlersDeps) {
    this.#deps = deps;
    this.#findRecipient = createRecipients(options, deps.findAccountByToken);
    this.#receiving = new Receiving(deps.limits, () => performance.now());
  }

  toOptions() {
    return {
      onConnect: (session, callback) => void settle(this.#open(session), callback),
      onMailFrom: (_address, session, callback) => void settle(this.#begin(session), callback),
      onRcptTo: ({ address }, session, callback) =>
        void settle(this.#addRecipient(address, session), callback),
      onData: (stream, session, callback) => {
        const done = settle(this.#receive(stream, session), callback);
        this.#storing.add(done);
        void done.finally(() => this.#storing.delete(done));
      },
      onClose: ({ id }) => this.#deps.sessions.close(id),
    } satisfies SMTPServerOptions;
  }

  async settle(): Promise<void> {
    this.#receiving.stop();
    await Promise.all(this.#storing);
  }

  async #open({ id, remoteAddress }: SMTPServerSession): Promise<void> {
    this.#deps.sessions.open(id, remoteAddress);
  }

  async #begin({ id, remoteAddress }: SMTPServerSession): Promise<void> {
    const session = this.#require(id);
    session.messages += 1;
    session.accountId = undefined;
    if (session.messages > this.#deps.limits.maxMessages && !session.isTrusted)
      throw new Reply(421, 'Too many messages in one connection');
    await this.#requireSpace(session.isTrusted ? undefined : remoteAddress);
  }

  /** A fault of the database is not a lack of space: it is answered when the message is stored. */
  async #requireSpace(address: string | undefined): Promise<void> {
    const shortage = await this.#deps.findShortage?.(address).catch(() => undefined);
    if (shortage === undefined) return;
    this.#logFault(shortage);
    throw new Reply(452, 'Insufficient system storage, try again later');
  }

  /** Each once a minute: clients can ask as often as they like. */
  #logFault(why: string): void {
    const nowMs = performance.now();
    if (nowMs - (this.#logged.get(why) ?? Number.NEGATIVE_INFINITY) < LOG_AGAIN_MS) return;
    if (this.#logged.size >= MAX_FAULTS) this.#logged.clear();
    this.#logged.set(why, nowMs);
    this.#deps.log.error(`smtp: messages are refused: ${why}`);
  }

  async #addRecipient(address: string, { id }: SMTPServerSession): Promise<void> {
    const session = this.#require(id);
    const accountId = await this.#findRecipient(address).catch((error: unknown) => {
      throw this.#toRecipientReply(error, session);
    });
    // One account for each message. The client sends it again for the others (RFC 5321, 4.5.3.1.10).
    const isOther = accountId !== undefined && accountId !== (session.accountId ?? accountId);
    if (isOther) throw new Reply(452, 'Too many recipients, send again for this one');
    session.accountId ??= accountId;
  }

  #toRecipientReply(error: unknown, session: Session): Reply {
    if (!(error instanceof Reply)) {
      this.#deps.log.error({ err: error }, 'smtp: an address could not be looked up');
      return notStored();
    }
    session.unknownRecipients += 1;
    return session.unknownRecipients > this.#deps.limits.maxUnknownRecipients
      ? new Reply(421, 'Too many unknown recipients')
      : error;
  }

  async #receive(stream: MessageStream, smtp: SMTPServerSession): Promise<void> {
    const { limits, disconnect } = this.#deps;
    const session = this.#require(smtp.id);
    const envelope = toEnvelope(smtp);
    const maxBytes = limits.maxMessageBytes;
    const message = new Message(stream, { maxBytes, nowMs: performance.now() });
    session.isReceiving = true;
    const refusal = await this.#store(message, { envelope, session, id: smtp.id });
    session.isStoring = false;
    const cut = () => disconnect(smtp.id, new Reply(421, 'The message does not end'));
    await message.drain(maxBytes * limits.maxDrainedMessages, cut);
    session.isReceiving = false;
    this.#log(message, envelope, refusal);
    if (refusal !== undefined) throw refusal;
    session.commands = 0;
  }

  /** Stores a message. Returns the reply when it was not stored. */
  async #store(
    message: Message,
    { envelope, session, id }: { envelope: Envelope; session: Session; id: string },
  ): Promise<Reply | undefined> {
    const { deliver, now, log, disconnect } = this.#deps;
    try {
      const { address, isTrusted } = session;
      const cut = () => disconnect(id, new Reply(421, 'Too slow'));
      await this.#receiving.add(message, { address, isTrusted, disconnect: cut });
      await deliver({
        door: 'smtp',
        bytes: message.read(() => {
          session.isStoring = true;
        }),
        envelope,
        isRelayed: isTrusted,
        receivedAt: toInstant(now()),
        accountId: session.accountId,
      });
      return undefined;
    } catch (error) {
      if (error instanceof Reply) return error;
      if (error instanceof Failure) this.#logFault(error.message);
      else if (!message.isLost) log.error({ err: error }, 'smtp: a message could not be stored');
      return notStored();
    } finally {
      this.#receiving.delete(message);
    }
  }

  /** One line for each message, without its content. */
  #log(message: Message, envelope: Envelope, refusal: Reply | undefined): void {
    const { sender = '', recipients = [], remoteAddress } = envelope;
    this.#deps.log.info({
      door: 'smtp',
      remote_address: remoteAddress,
      sender: toLogText(sender),
      recipients: recipients.slice(0, LOGGED_RECIPIENTS).map(toLogText),
      bytes: message.size,
      outcome: message.isLost ? 'connection lost' : (refusal?.message ?? 'stored'),
    });
  }

  #require(id: string): Session {
    const session = this.#deps.sessions.find(id);
    if (session === undefined) throw new Reply(421, 'The connection is closed');
    return session;
  }
}

const settle = (work: Promise<void>, callback: (error?: Error) => void): Promise<void> =>
  work.then(() => callback(), callback);

const LOGGED_RECIPIENTS = 5;
const LOG_AGAIN_MS = 60_000;
const MAX_FAULTS = 20;

function toEnvelope(session: SMTPServerSession): Envelope {
  const { envelope, remoteAddress, hostNameAppearsAs } = session;
  const { mailFrom, rcptTo } = envelope;
  return {
    sender: mailFrom === false ? '' : mailFrom.address,
    recipients: rcptTo.map(({ address }) => address),
    remoteAddress,
    helo: hostNameAppearsAs || undefined,
  };
}
