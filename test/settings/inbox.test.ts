import { describe, expect, test } from 'vitest';
import { findMailToken } from '../../src/store/accounts/mail-address.ts';
import { noteDoor } from '../../src/store/inbox/doors.ts';
import { serveApi } from '../support/api.ts';
import { aBareAccount } from '../support/builders.ts';
import { deliverMail } from '../support/inbox.ts';
import { aVisitor, toReadable } from '../support/visitor.ts';

async function aPage(path: string, wanted: Parameters<typeof serveApi>[0] = {}) {
  const api = await serveApi(wanted);
  const accountId = await aBareAccount(api.db);
  const { browser } = await aVisitor(api, accountId);
  const read = async () => toReadable((await browser.get(path)).text);
  return { db: api.db, accountId, read };
}

describe('the overview', () => {
  test('says nothing of how reports come in when no door was ever open', async () => {
    const { read } = await aPage('/settings/overview');
    expect(await read()).not.toContain('How reports come in');
  });

  test('says of each door when the last mail came and only since when it fails', async () => {
    const { db, read } = await aPage('/settings/overview');
    await noteDoor(db, 'smtp');
    await noteDoor(db, 'imap', 'The server said: no secret-tenant at 192.0.2.1');
    await noteDoor(db, 'folder:/srv/private/drop');
    await noteDoor(db, 'folder:/srv/other');
    const receivedAt = new Date().toISOString().replace(/\.\d+/, '');
    const envelope = { sender: 'stranger@example.org', place: '/srv/private/drop/x.xml' };
    await deliverMail(db, { door: 'folder:/srv/private/drop', receivedAt, envelope });
    const text = await read();
    expect(text).toMatch(
      /Files in a folder just now Works A mailbox \(IMAP\) none yet Fails ?: tell the operator/,
    );
    expect(text).toMatch(/Mail to Plumbline \(SMTP\) none yet Works 1 mail to be read\./);
    // What came in for others, where, and what the server of a mailbox says, is not shown.
    expect(text).not.toMatch(/stranger|\/srv|secret-tenant|192\.0/);
  });

  test('says how many mails wait, and how many cannot be read', async () => {
    const { db, read } = await aPage('/settings/overview');
    await noteDoor(db, 'smtp');
    for (let i = 0; i < 3; i += 1) await deliverMail(db);
    await db.write((tx) =>
      tx.updateTable('inbox_mail').set({ state: 'stuck' }).where('seq', '=', 2).execute(),
    );
    expect(await read()).toContain('2 mails to be read. 1 mail cannot be read: tell the operator.');
  });

  test('says that a door fails that has said nothing for a day, and one that never worked', async () => {
    const { db, read } = await aPage('/settings/overview');
    await noteDoor(db, 'smtp');
    await noteDoor(db, 'imap', 'There is no such host.');
    const before = new Date(Date.now() - 25 * 3_600_000).toISOString();
    await db.write((tx) =>
      tx.updateTable('door_state').set({ worked_at: before }).where('door', '=', 'smtp').execute(),
    );
    const text = await read();
    expect(text).toMatch(/Mail to Plumbline \(SMTP\) none yet Fails since .*: tell the operator/);
    expect(text).toContain('A mailbox (IMAP) none yet Fails : tell the operator');
  });

  test('says that a door works again', async () => {
    const { db, read } = await aPage('/settings/overview');
    await noteDoor(db, 'imap', 'There is no such host.');
    await noteDoor(db, 'imap');
    expect(await read()).toContain('A mailbox (IMAP) none yet Works');
  });
});

describe('the account’s page', () => {
  test('shows its own address for reports when Plumbline takes mail', async () => {
    const path = '/settings/account';
    const { db, accountId, read } = await aPage(path, { mailHost: 'reports.example.net' });
    const address = `${await findMailToken(db, accountId)}@reports.example.net`;
    expect(await read()).toContain(`rua=mailto:${address}`);
    const { read: readOther } = await aPage(path);
    expect(await readOther()).not.toContain('Address for reports');
  });

  test('says which address to take where one takes the reports of all domains', async () => {
    const mailHost = 'reports.example.net';
    const path = '/settings/account';
    const { read } = await aPage(path, { mailHost, reportAddress: `rua@${mailHost}` });
    const text = await read();
    expect(text).toContain('in the rua tag of a domain that you do not have yet');
    expect(text).toContain(
      `The pages of your domains name rua@${mailHost} , which takes the reports of all domains and proposes none.`,
    );
    const { read: readOther } = await aPage(path, { mailHost });
    expect(await readOther()).not.toContain('which takes the reports of all domains');
  });
});
