import type { AddressInfo } from 'node:net';
import libmime from 'libmime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { MailServer } from '../../src/notify/mail/mailer.ts';

export interface Received {
  readonly to: readonly string[];
  /** As it came. */
  readonly raw: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The header fields, unfolded. */
export function listFields(raw: string): string[] {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  return head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
}

function findField(raw: string, name: string): string | undefined {
  const field = listFields(raw).find((one) => one.startsWith(`${name}: `));
  return field && libmime.decodeWords(field.slice(name.length + 2));
}

/** The text of the part with a type. */
function findPart(raw: string, type: string): string {
  const boundary = /boundary="([^"]+)"/.exec(findField(raw, 'Content-Type') ?? '')?.[1];
  const part = raw.split(`\r\n--${boundary}`).find((one) => one.includes(`Content-Type: ${type}`));
  const [head = '', ...body] = (part ?? '').split('\r\n\r\n');
  const text = body.join('\r\n\r\n');
  if (/encoding: base64/i.test(head)) return Buffer.from(text, 'base64').toString();
  return /encoding: quoted/i.test(head)
    ? Buffer.from(
        text
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      ).toString()
    : text;
}

type Answer = Error | null | 'never';

interface Given extends SMTPServerOptions {
  /** What a mail is answered with: `refusal` of a code, nothing for a server that stalls, or null when it is taken. */
  readonly answer?: (received: Received) => Answer;
  /** What a recipient is answered with. */
  readonly answerTo?: (address: string) => Answer;
}

/** A real SMTP server on a free port of the loopback address, with what it took. */
export async function aMailServer({ answer, answerTo, ...options }: Given = {}) {
  const received: Received[] = [];
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS'], disableReverseLookup: true },
    ...options,
    onRcptTo: ({ address }, _session, callback) => {
      const given = answerTo?.(address) ?? null;
      if (given !== 'never') callback(given);
    },
    onData: async (stream, session, callback) => {
      const raw = await readAll(stream).catch(() => undefined);
      // The client went away in the middle of it.
      if (raw === undefined) return;
      const to = session.envelope.rcptTo.map(({ address }) => address);
      const one = {
        ...{ to, raw, subject: findField(raw, 'Subject') ?? '' },
        ...{ text: findPart(raw, 'text/plain'), html: findPart(raw, 'text/html') },
      };
      const given = answer?.(one) ?? null;
      if (given === null) received.push(one);
      if (given !== 'never') callback(given);
    },
  });
  // A client that goes away is no fault of the server's.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  const config: MailServer = {
    ...{ host: '127.0.0.1', port, security: 'none', user: undefined, password: undefined },
    from: { name: 'Plumbline', address: 'plumbline@mx.plumbline.example' },
  };
  return { port, config, received };
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

export function refusal(responseCode: number, message = 'No.'): Error {
  return Object.assign(new Error(message), { responseCode });
}
