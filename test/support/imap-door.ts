import { onTestFailed, onTestFinished } from 'vitest';
import type { Incoming, MailResult } from '../../src/domain/incoming.ts';
import { readMailbox } from '../../src/intake/doors/imap/imap.ts';
import type { ImapOptions, MailboxOptions } from '../../src/intake/doors/imap/options.ts';

/** An inbox in memory, which outlives the doors that deliver to it. */
export class MemoryInbox {
  /** The texts of mails by their keys, in the order in which they came. */
  readonly mails = new Map<string, string>();
  /** How often a mail was handed over whose key is here already. */
  again = 0;
  checkpoint: string | undefined;
  /** What the door told of itself, one after the other; undefined that it works. */
  readonly notes: (string | undefined)[] = [];
  /** What becomes of a mail. */
  toResult: (text: string) => MailResult = () => 'processed';
  /** Called for each mail; a throw is a store that failed. */
  beforeStore: () => Promise<void> | void = () => {};

  async deliver({ key = '', bytes }: Incoming): Promise<void> {
    await this.beforeStore();
    if (this.mails.has(key)) this.again += 1;
    else this.mails.set(key, Buffer.from(bytes as Uint8Array).toString('latin1'));
  }

  toGiven() {
    return {
      deliver: (incoming: Incoming) => this.deliver(incoming),
      findResults: async (keys: readonly string[]) => {
        const known = keys.filter((key) => this.mails.has(key));
        return new Map(known.map((key) => [key, this.toResult(this.mails.get(key) ?? '')]));
      },
      noteDoor: async (_door: string, error?: string) => {
        if (this.notes.at(-1) !== error || this.notes.length === 0) this.notes.push(error);
      },
      findCheckpoint: async () => this.checkpoint,
      updateCheckpoint: async (_door: string, text: string) => {
        this.checkpoint = text;
      },
    };
  }
}

/** The waits of tests; all else is as in production. */
const QUICK = { firstRetryMs: 20, lastingRetryMs: 20, maxRetryMs: 200, resultsMs: 20, pollMs: 100 };

type DoorOptions = MailboxOptions & Partial<Pick<ImapOptions, 'credentials' | 'caFile'>>;

/** A door that reads a mailbox until the test ends, or `stop` is called. */
export function anImapDoor(
  { credentials = { password: 'x' }, caFile, ...options }: DoorOptions,
  inbox = new MemoryInbox(),
) {
  const lines: string[] = [];
  const note = (_about: unknown, text = '') => void lines.push(text);
  const log = { info: note, warn: note, error: note };
  const stopping = new AbortController();
  const reading = readMailbox(
    { ...options, credentials, caFile, limits: { ...QUICK, ...options.limits } },
    {
      ...inbox.toGiven(),
      now: () => new Date('2026-03-15T04:00:00Z'),
      log: log as never,
    },
    stopping.signal,
  );
  const stop = async () => {
    stopping.abort();
    await reading;
  };
  onTestFinished(stop);
  onTestFailed(() => void process.stderr.write(`${lines.slice(-10).join('\n')}\n`));
  return { inbox, lines, stop };
}
