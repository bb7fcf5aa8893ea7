import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { startFolderDoor } from '../../src/jobs/doors.ts';
import { startInbox } from '../../src/jobs/inbox.ts';
import { startJobs } from '../../src/jobs/jobs.ts';
import { findMailToken } from '../../src/store/accounts/mail-address.ts';
import { listAllDomains } from '../../src/store/domains/domains.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { serveDns, type Zone } from '../support/dns-server.ts';
import { aReportMail, aReportXml, listMailRows } from '../support/inbox.ts';
import { aStore } from '../support/store.ts';

test('a process with an inbox reads what its doors deliver, in a child process, and claims domains', async () => {
  const store = await aStore();
  const folder = await aFolder();
  const zone: Zone = {};
  const { address } = await serveDns(zone);
  const accountId = await aBareAccount(store.db);
  await aDomain(store.db, accountId, { name: 'www.example.com' });
  const token = await findMailToken(store.db, accountId);
  zone['_dmarc.example.com'] = [[`v=DMARC1; p=none; rua=mailto:${token}@reports.example.net`]];
  const config = readConfig({
    PLUMBLINE_WATCH: folder,
    PLUMBLINE_SMTP_NAME: 'reports.example.net',
    PLUMBLINE_DNS_SERVERS: address,
  });
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const deps = { store, log, parser: createParserProcess() };
  const inbox = startInbox(config, deps);
  onTestFinished(() => inbox.stop());
  const door = startFolderDoor(folder, config.watchDone, { ...deps, deliver: inbox.deliver });
  onTestFinished(() => door.stop());
  await inbox.deliver({
    door: 'smtp',
    bytes: aReportMail('by-mail'),
    envelope: {},
    receivedAt: '2026-08-01T00:00:00Z',
    accountId,
  });
  writeFileSync(join(folder, '.new'), aReportXml('by-file'));
  renameSync(join(folder, '.new'), join(folder, 'new.xml'));
  while (readdirSync(folder).includes('new.xml')) await sleep(20);
  expect(readdirSync(join(folder, 'Processed'))).toEqual(['new.xml']);
  const rows = await listMailRows(store.db);
  expect(rows.map(({ result }) => result)).toEqual(['processed', 'processed']);
  const read = lines.filter(({ msg }) => msg === 'a mail was read');
  expect(read).toMatchObject([
    { door: 'smtp', account_id: accountId, outcome: 'processed', counts: { unclaimed: 1 } },
    { door: `folder:${folder}`, outcome: 'processed', counts: { stored: 1 } },
  ]);
  expect(rows.map(({ counts }) => counts)).toEqual(['{"unclaimed":1}', '{"stored":1}']);
  const domains = await listAllDomains(store.db, accountId);
  expect(domains.map(({ name }) => name)).toEqual(['example.com', 'www.example.com']);
});

test('the inbox and each door are jobs', async () => {
  const folder = await aFolder();
  const config = readConfig({ PLUMBLINE_WATCH: folder, PLUMBLINE_DNS_CHECKS: 'off' });
  const deps = {
    store: await aStore(),
    log: pino({ level: 'silent' }),
    parser: createParserProcess(),
  };
  const jobs = startJobs(config, deps);
  onTestFinished(() => jobs.stop());
  const always = ['alerts', 'listing', 'unclaimed', 'events', 'changes', 'outbox', 'inbox'];
  expect(jobs.names).toEqual([...always, `folder ${folder}`]);
});
