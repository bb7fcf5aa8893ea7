import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { parseEmail } from '../domain/access/person.ts';
import { Failure } from '../domain/failure.ts';
import { toSafeText } from '../domain/text.ts';
import { renderLetter } from '../notify/mail/letter.ts';
import { createMailer } from '../notify/mail/mailer.ts';
import { type OutputOptions, printOne } from './output/output.ts';
import { UsageError } from './output/report-error.ts';

export function define(mail: Command): void {
  mail
    .command('test <address>')
    .description('Send a mail, and print what the server answered.')
    .action(async (address: string, options: OutputOptions) => {
      const { mailServer: server, baseUrl = '' } = readConfig(process.env);
      const to = parseEmail(address);
      if (server === undefined) throw new UsageError('PLUMBLINE_MAIL_SERVER is not set.');
      const mailer = createMailer(server);
      try {
        const answer = await mailer.send({ to, id: randomUUID(), ...toTest(baseUrl) });
        printOne({ to, server: `${server.host}:${server.port}`, answer }, options);
      } catch (error) {
        const { host, port } = server;
        const why = `${host}:${port} did not take the mail: ${(error as Error).message}`;
        throw new Failure('unavailable', toSafeText(why, 500));
      } finally {
        mailer.close();
      }
    });
}

function toTest(baseUrl: string) {
  return renderLetter({
    subject: 'Plumbline can send mail',
    blocks: ['This mail is a test. Alerts come the same way.'],
    reason: `The operator of ${baseUrl} asked for it with “plumbline mail test”.`,
  });
}
