import { onTestFinished } from 'vitest';
import type { Incoming } from '../../src/domain/incoming.ts';
import { type SmtpOptions, startSmtp } from '../../src/intake/doors/smtp/smtp.ts';

export interface Delivered extends Omit<Incoming, 'bytes'> {
  readonly text: string;
}

export const TOKEN = 'abcdefgh01234567';
const OTHER_TOKEN = '76543210hgfedcba';
export const ADDRESS = 'dmarc@mx.plumbline.example';

interface Given extends Partial<SmtpOptions> {
  /** Called when a message is complete and before it counts as stored. */
  readonly store?: () => Promise<void> | void;
  readonly findAccountByToken?: (token: string) => Promise<string | undefined>;
  readonly findShortage?: () => Promise<string | undefined>;
}

/** An SMTP door on a free port of the loopback address, with an inbox that is a list. */
export async function anSmtpDoor({
  store,
  findAccountByToken,
  findShortage,
  ...options
}: Given = {}) {
  const delivered: Delivered[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = {
    debug: () => {},
    info: (line: unknown) => void lines.push(line as Record<string, unknown>),
    error: () => {},
  };
  const deliver = async ({ bytes, ...rest }: Incoming) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes as AsyncIterable<Uint8Array>) chunks.push(chunk);
    await store?.();
    delivered.push({ ...rest, text: Buffer.concat(chunks).toString('latin1') });
  };
  const accounts = new Map([
    [TOKEN, 'account-1'],
    [OTHER_TOKEN, 'account-2'],
  ]);
  const door = await startSmtp(
    { port: 0, host: '127.0.0.1', name: 'mx.plumbline.example', recipients: [ADDRESS], ...options },
    {
      deliver,
      findAccountByToken: findAccountByToken ?? (async (token) => accounts.get(token)),
      ...(findShortage && { findShortage }),
      now: () => new Date('2026-03-15T04:00:00Z'),
      log: log as never,
    },
  );
  onTestFinished(door.stop);
  return { port: door.port, stop: door.stop, delivered, lines, otherToken: OTHER_TOKEN };
}
