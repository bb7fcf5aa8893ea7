import type { Incoming } from '../../src/domain/incoming.ts';
import type { MailProof } from '../../src/domain/reports/authentication.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { createDeliver } from '../../src/store/inbox/deliver.ts';
import { NOW } from './builders.ts';
import { PLAIN } from './intake.ts';
import { base64, mail } from './mail.ts';

let count = 0;

/** A report of its own: the plain one with another report id. */
export function aReportXml(id = `r-${++count}`, domain = 'example.com'): string {
  return PLAIN.replace(/<report_id>[^<]*/, `<report_id>${id}`).replaceAll(
    /<domain>[^<]*/g,
    `<domain>${domain}`,
  );
}

/** A mail with one report attached. */
export function aReportMail(id?: string, domain?: string): Buffer {
  return mail(base64(aReportXml(id, domain)));
}

/** Delivers a mail as a door does. */
export async function deliverMail(db: Db, incoming: Partial<Incoming> = {}): Promise<void> {
  await createDeliver(db)({
    door: 'smtp',
    bytes: aReportMail(),
    envelope: { sender: 'noreply@reporter.example', recipients: ['rua@example.com'] },
    receivedAt: NOW,
    ...incoming,
  });
}

/** Makes every mail that waits for a time, or for the end of a claim, due now. */
export async function makeDue(db: Db): Promise<void> {
  await db.write((tx) =>
    tx.updateTable('inbox_mail').set({ due_at: NOW }).where('due_at', 'is not', null).execute(),
  );
}

export const listMailRows = (db: Db) =>
  db.selectFrom('inbox_mail').selectAll().orderBy('seq').execute();

/** What a report's mail proves, in one text: why it is not believed, and who signed. Empty for a file. */
export const toWords = ({ doubt, authenticated }: MailProof): string =>
  [doubt, authenticated].join(' ').trim();
