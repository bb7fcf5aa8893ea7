/** A process that sends mail, until it is killed: `fork`ed with the database and the mail server as JSON. */
import pino from 'pino';
import { startMail } from '../../src/jobs/mail.ts';
import type { MailServer } from '../../src/notify/mail/mailer.ts';
import { openStore } from '../../src/store/engine/open.ts';

export interface Delivering {
  readonly database: string;
  readonly server: Omit<MailServer, 'password'>;
}

const { database, server }: Delivering = JSON.parse(process.argv[2] ?? '');
process.on('disconnect', () => process.exit());
const store = await openStore(database, { mustExist: true });
const log = pino({ level: 'silent' });
const baseUrl = 'https://dmarc.example.com';
startMail({ ...server, password: undefined }, { store, log, baseUrl });
