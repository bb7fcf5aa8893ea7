import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ImapOptions } from '../../src/intake/doors/imap/options.ts';
import { aCertificate } from '../support/certificate.ts';
import type { Tokens } from '../support/dovecot/config.ts';
import { Dovecot, PASSWORD, USER } from '../support/dovecot/dovecot.ts';

/** Certificates are for this name, and not for the address that tests connect to. */
const HOST = 'localhost';

/** A server of its own for a test, and its certificate, which is its own authority. */
export type TestDovecot = Dovecot & { readonly caFile: string };

interface Given {
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly tokens?: Tokens;
}

/** A server with one empty mailbox, which goes at the end of the test. */
export async function aDovecot(given: Given = {}): Promise<TestDovecot> {
  const { certificate = aCertificate(HOST), tokens } = given;
  const server = await Dovecot.start({ certificate, tokens });
  onTestFinished(async ({ task }) => {
    await server.stop();
    if (task.result?.state === 'fail') process.stderr.write((await server.readLog()).slice(-3_000));
    await server.remove();
  });
  return Object.assign(server, { caFile: join(server.folder, 'cert.pem') });
}

/** How a door reads the server's mailbox. */
export function optionsOf(
  { ports, caFile }: Pick<TestDovecot, 'ports' | 'caFile'>,
  given: Partial<ImapOptions> = {},
): ImapOptions {
  return {
    door: 'imap',
    host: HOST,
    port: ports.imaps,
    user: USER,
    mailbox: 'INBOX',
    security: 'tls',
    credentials: { password: PASSWORD },
    done: 'move',
    caFile,
    ...given,
  };
}
