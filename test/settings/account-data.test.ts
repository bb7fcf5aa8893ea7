import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { gunzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { receiveInputs } from '../../scripts/receive.ts';
import { updateAccountName } from '../../src/store/accounts/accounts.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { exportAccount } from '../../src/store/leaving/account-export.ts';
import { findDeletionRequest } from '../../src/store/leaving/deletion-request.ts';
import { updateRole } from '../../src/store/people/person-changes.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { aSignedIn, type Browser, toReadable } from '../support/visitor.ts';

const ACCOUNT = '/settings/account';
const DELETION = `${ACCOUNT}/deletion`;

let api: Api;
let accountId: string;
let owner: { readonly email: string; readonly browser: Browser };
let member: { readonly id: string; readonly email: string; readonly browser: Browser };

beforeAll(async () => {
  api = await startApi();
  return api.close;
});
beforeEach(async () => {
  accountId = await aBareAccount(api.db);
  owner = await aSignedIn(api, accountId);
  member = await aSignedIn(api, accountId);
});

const read = async (browser: Browser) => toReadable((await browser.get(ACCOUNT)).text);
const find = () => findDeletionRequest(api.db, accountId);
const actions = async () =>
  (await listAudit(api.db, accountId, { limit: 9 })).map(({ action, actor }) => [action, actor]);

test('both are for owners', async () => {
  expect(await read(member.browser)).not.toContain('data');
  for (const path of [`${ACCOUNT}/export`, DELETION])
    expect((await member.browser.get(path)).status).toBe(403);
  for (const path of [DELETION, `${DELETION}/withdraw`])
    expect((await member.browser.post(path, { name: 'Example' })).status).toBe(403);
  expect(await find()).toBeUndefined();
});

describe('the account’s data', () => {
  test('is the lines of the command, whole, and the audit says who took it', async () => {
    const { name: domain } = await aDomain(api.db, accountId);
    const reports = Array.from({ length: 25 }, (_, i) => aReport({ domain, reportId: `r${i}` }));
    await receive(api.db, reports);
    await aDomain(api.db, await aBareAccount(api.db), { name: 'other.example' });
    const { status, headers, bytes } = await owner.browser.download(`${ACCOUNT}/export`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/gzip',
      'content-disposition': expect.stringMatching(
        /^attachment; filename="plumbline-.*\.jsonl\.gz"$/,
      ),
    });
    const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
    const wanted: string[] = [];
    const rows = await exportAccount(api.store.reader, accountId, (line) => wanted.push(line));
    expect(lines.slice(1, -1)).toEqual(wanted);
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ end: true, rows });
    expect(JSON.parse(lines[0] ?? '')).toEqual({ export: 'plumbline account', version: 1 });
    expect(lines.join()).not.toContain('other.example');
    expect((await actions())[0]).toEqual(['account_exported', owner.email]);
  });
});

describe('a download of it', () => {
  const open = async (method = 'GET') => {
    const request = http.request({
      ...{ port: api.port, path: `${ACCOUNT}/export`, method },
      headers: { cookie: owner.browser.cookie },
    });
    request.end();
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    return answer;
  };

  test('is one at a time for an account, and the next one begins when its client has gone', async () => {
    const { name: domain } = await aDomain(api.db, accountId);
    // They are read and compressed for longer than the other requests take to come.
    const inputs = Array.from({ length: 8 }, (_, i) => ({
      ...{ name: `${i}`, bytes: Buffer.concat([Buffer.from('PK'), randomBytes(2_000_000)]) },
      documents: [{ member: [], content: aReport({ domain, reportId: `r${i}` }) }],
    }));
    await receiveInputs(api.db, inputs, NOW);
    const other = await aSignedIn(api, accountId);
    await updateRole(api.db, other.id, 'owner');
    const download = (browser: Browser) => browser.download(`${ACCOUNT}/export`);
    const answers = await Promise.all(
      [owner, other, other].map(({ browser }) => download(browser)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 503, 503]);
    const refused = answers.find(({ status }) => status === 503);
    expect(refused?.headers['content-disposition']).toBeUndefined();
    (await open()).destroy();
    const next = async () => (await download(other.browser)).status;
    await expect.poll(next).toBe(200);
    const exported = (await actions()).filter(([action]) => action === 'account_exported');
    expect(exported).toHaveLength(3);
  });

  test('is not made for HEAD, and the audit does not say so', async () => {
    const answer = await open('HEAD');
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/gzip']);
    expect(await actions()).not.toContainEqual(['account_exported', owner.email]);
  });
});

describe('the deletion of the account', () => {
  test('is asked for with the account’s name, is shown with who asked, and deletes nothing', async () => {
    const wrong = await owner.browser.post(DELETION, { name: 'exampl' });
    expect([wrong.status, await find()]).toEqual([422, undefined]);
    expect(wrong.text).toContain('This is not the name of the account.');
    await updateAccountName(api.db, accountId, { name: 'Ex  ample e\u0301', allowDuplicate: true });
    const seen = ' Ex ample \u00e9';
    expect((await owner.browser.post(DELETION, { name: seen })).status).toBe(303);
    expect(await find()).toMatchObject({ by: owner.email });
    expect(await read(owner.browser)).toContain(
      `${owner.email} asked for the deletion of this account`,
    );
    expect((await actions())[0]).toEqual(['deletion_asked', owner.email]);
  });

  test('is taken back by any owner, and the first who asked is named', async () => {
    await owner.browser.post(DELETION, { name: 'Example' });
    const request = await find();
    await updateRole(api.db, member.id, 'owner');
    await member.browser.post(DELETION, { name: 'Example' });
    expect(await find()).toEqual(request);
    expect((await member.browser.post(`${DELETION}/withdraw`)).status).toBe(303);
    expect(await find()).toBeUndefined();
    expect(await read(owner.browser)).toContain('Ask for the deletion of the account');
    await member.browser.post(`${DELETION}/withdraw`);
    const ofDeletion = (await actions()).filter(([action]) => action?.startsWith('deletion'));
    expect(ofDeletion).toEqual([
      ['deletion_taken_back', member.email],
      ['deletion_asked', owner.email],
    ]);
  });
});
