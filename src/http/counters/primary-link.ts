import type { ClientRateLimitInfo } from 'express-rate-limit';
import type { Logger } from 'pino';
import { Announcement } from './announcement.ts';
import type { ClientOfLimit, SharedCounts } from './fallback-store.ts';
import { type Batch, type Counted, type Hit, isCounted } from './messages.ts';
import type { Patience } from './patience.ts';

/** Hits that were sent and not answered. A primary that has more to do has no time for this worker. */
const MAX_UNDER_WAY = 10_000;
const RETRY_MS = 1_000;

/** The part of `process` that a worker has. */
export interface Channel {
  readonly send: (message: Batch, done: (error: Error | null) => void) => unknown;
  readonly on: (event: 'message', listener: (message: unknown) => void) => unknown;
  readonly off: (event: 'message', listener: (message: unknown) => void) => unknown;
}

interface Sent extends Hit {
  readonly resolve: (info: ClientRateLimitInfo) => void;
  readonly reject: (error: Error) => void;
}

/** The counts in the primary process, over the channel between the two processes. */
export class PrimaryLink implements SharedCounts {
  readonly #channel: Channel;
  readonly #patience: Patience;
  readonly #announcement: Announcement;
  readonly #batches = new Map<number, readonly Sent[]>();
  #next: Sent[] = [];
  #lastId = 0;
  #underWay = 0;
  #probe: NodeJS.Timeout | undefined;

  constructor(channel: Channel, { log, patience }: { log: Logger; patience: Patience }) {
    this.#channel = channel;
    this.#patience = patience;
    this.#announcement = new Announcement(log, 'the primary process');
    channel.on('message', this.#receive);
  }

  isShared(): boolean {
    return this.#probe === undefined && this.#underWay < MAX_UNDER_WAY;
  }

  add(client: ClientOfLimit): Promise<ClientRateLimitInfo> {
    return this.#patience.wait(this.#count({ ...client, add: 1 })).catch(this.#lose);
  }

  subtract(client: ClientOfLimit): Promise<unknown> {
    return this.#patience
      .wait(this.#count({ ...client, add: 0 }), this.#patience.newBudget())
      .catch(this.#lose);
  }

  close(): void {
    this.#channel.off('message', this.#receive);
    clearInterval(this.#probe);
  }

  #count(hit: Hit): Promise<ClientRateLimitInfo> {
    return new Promise((resolve, reject) => {
      if (this.#next.length === 0) setImmediate(() => this.#send());
      this.#next.push({ ...hit, resolve, reject });
      this.#underWay += 1;
    });
  }

  #send(): void {
    const sent = this.#next;
    this.#next = [];
    this.#lastId += 1;
    this.#batches.set(this.#lastId, sent);
    const hits = sent.map(({ limit, key, windowMs, add }) => ({ limit, key, windowMs, add }));
    this.#channel.send({ type: 'plumbline:count', id: this.#lastId, hits }, (error) => {
      if (error !== null) for (const { reject } of sent) reject(error);
    });
  }

  /** Sends an empty batch, and forgets those before it. */
  #ask(): void {
    this.#batches.clear();
    this.#send();
  }

  /** Any answer shows that the primary counts, also one that came too late for its requests. */
  readonly #receive = (message: unknown): void => {
    if (!isCounted(message)) return;
    clearInterval(this.#probe);
    this.#probe = undefined;
    this.#announcement.back();
    this.#settle(message);
  };

  #settle({ id, counts }: Counted): void {
    const sent = this.#batches.get(id) ?? [];
    this.#batches.delete(id);
    this.#underWay -= sent.length;
    for (const [i, [totalHits, endsInMs]] of counts.entries())
      sent[i]?.resolve({ totalHits, resetTime: new Date(Date.now() + endsInMs) });
  }

  /** From now on no request waits, until the primary answers an empty batch. */
  readonly #lose = (error: Error): never => {
    for (const { reject } of [...this.#batches.values(), this.#next].flat()) reject(error);
    this.#batches.clear();
    this.#next = [];
    this.#underWay = 0;
    this.#probe ??= setInterval(() => this.#ask(), RETRY_MS).unref();
    this.#announcement.lost(error.message);
    throw error;
  };
}
