import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DAYS_NEW } from '../../../src/domain/reports/authentication.ts';
import { toSizeText } from '../../../src/domain/size.ts';
import { IMAP_LIMITS } from '../../../src/intake/doors/imap/options.ts';
import { SMTP_LIMITS } from '../../../src/intake/doors/smtp/limits.ts';
import { MAX_TRIES } from '../../../src/store/inbox/claims.ts';

const operating = readFileSync(new URL('../../../docs/operate/mail.md', import.meta.url), 'utf8');

/** The text with one space between words: lines end anywhere. */
const flat = operating.replaceAll(/\s+/g, ' ');
const seconds = (ms: number) => `${ms / 1000} seconds`;
const words = new Map([
  [5, 'five'],
  [10, 'ten'],
]);

test('the limits of the SMTP door are those of the code, every one of them', () => {
  const smtp = SMTP_LIMITS;
  const [, paragraph] = /The limits for each process: (.*?), then the sender/.exec(flat) ?? [];
  expect(paragraph).toBe(
    `${smtp.maxConnections} connections, ${smtp.maxConnectionsPerAddress} from one address (IPv6: one /64), ` +
      `${smtp.maxConnectionRate} new ones a minute from one address, ${smtp.maxMessages} messages in a connection, ` +
      `${smtp.maxRecipients} recipients in a message, ${smtp.maxReceiving} messages at the same time ` +
      `(${smtp.maxReceivingPerAddress} from one address), ${seconds(smtp.idleMs)} of silence, ` +
      `${seconds(smtp.sessionMs)} for a connection. A message waits up to ${seconds(smtp.waitMs)} for a place`,
  );
  expect(flat).toContain(`up to ${toSizeText(smtp.maxMessageBytes)} each`);
});

test.each([
  ['a mail of a mailbox', `larger than ${toSizeText(IMAP_LIMITS.maxMailBytes)} stays`],
  ['filing', `tried again every ${words.get(IMAP_LIMITS.refileMs / 60_000)} minutes`],
  ['tries of a mail', `After ${words.get(MAX_TRIES)} tries it is \`stuck\``],
  ['a new reporter', `came ${DAYS_NEW === 14 ? 'two weeks' : `${DAYS_NEW} days`} before`],
])('the limit of %s is that of the code', (_what, text) => {
  expect(flat).toContain(text);
});
