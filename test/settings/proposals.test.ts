import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listAllDomains } from '../../src/store/domains/domains.ts';
import {
  acceptProposal,
  claimOrPropose,
  listProposals,
} from '../../src/store/domains/proposals.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { updateRole } from '../../src/store/people/person-changes.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { aSignedIn, type Browser, toReadable } from '../support/visitor.ts';

const OVERVIEW = '/settings/overview';
const ADD = '/settings/proposals/example.com/add';
const IGNORE = '/settings/proposals/evil.example/ignore';

let api: Api;
let accountId: string;
/** The account's first person. */
let owner: { readonly id: string; readonly email: string; readonly browser: Browser };

beforeAll(async () => {
  api = await startApi();
  return api.close;
});
beforeEach(async () => {
  accountId = await aBareAccount(api.db);
  owner = await aSignedIn(api, accountId);
  for (const name of ['example.com', 'evil.example'])
    await claimOrPropose(api.db, { accountId, name, now: NOW });
  return async () => {
    const rows = api.db.write((tx) => tx.deleteFrom('domain_proposal').execute());
    await rows;
    await api.db.write((tx) => tx.updateTable('domain').set({ account_id: null }).execute());
  };
});

const domains = async () => (await listAllDomains(api.db, accountId)).map(({ name }) => name);
const proposals = async () =>
  (await listProposals(api.db, accountId)).map(({ name, ignoredAt }) => [name, ignoredAt !== null]);

describe('proposed domains on the overview', () => {
  test('are added or ignored by an owner', async () => {
    const { text } = await owner.browser.get(OVERVIEW);
    expect(toReadable(text)).toMatch(
      /2 domains to add or ignore .*evil\.example .* Add Ignore example\.com/,
    );
    expect(text).toContain('aria-label="Ignore: evil.example"');
    for (const path of [ADD, IGNORE]) {
      expect(text).toContain(`action="${path}"`);
      expect(await owner.browser.post(path)).toMatchObject({
        status: 303,
        headers: { location: OVERVIEW },
      });
    }
    expect(await domains()).toEqual(['example.com']);
    expect(await proposals()).toEqual([['evil.example', true]]);
    const after = (await owner.browser.get(OVERVIEW)).text;
    expect(toReadable(after)).toContain('evil.example is ignored.');
    expect(after).not.toContain('to add or ignore');
    const audit = await listAudit(api.db, accountId, { limit: 2, kind: 'domain' });
    expect(audit.map(({ action, actor, subject }) => [action, actor, subject])).toEqual([
      ['domain_ignored', owner.email, 'evil.example'],
      ['domain_added', owner.email, 'example.com'],
    ]);
    const page = toReadable((await owner.browser.get('/settings/audit')).text);
    expect(page).toContain(`${owner.email} ignored the proposed domain “evil.example”`);
  });

  test('are seen by members, who change nothing', async () => {
    const member = await aSignedIn(api, accountId);
    const { text } = await member.browser.get(OVERVIEW);
    expect(toReadable(text)).toMatch(/Owners of the account decide\. .*evil\.example/);
    expect(text).not.toContain('/settings/proposals/');
    for (const path of [ADD, IGNORE]) expect((await member.browser.post(path)).status).toBe(403);
    expect(await domains()).toEqual([]);
    expect(await proposals()).toEqual([
      ['evil.example', false],
      ['example.com', false],
    ]);
  });

  test('are not added by an owner who became a member meanwhile', async () => {
    const other = await aSignedIn(api, accountId);
    await updateRole(api.db, other.id, 'owner');
    await updateRole(api.db, owner.id, 'member');
    const by = { name: owner.email, accountId, personId: owner.id, address: null, at: NOW };
    const adding = acceptProposal(api.db, { accountId, name: 'example.com' }, by);
    await expect(adding).rejects.toMatchObject({ code: 'forbidden' });
    expect(await domains()).toEqual([]);
  });

  test('are those of one account, and of forms of its own session', async () => {
    const stranger = await aSignedIn(api, await aBareAccount(api.db));
    expect((await stranger.browser.get(OVERVIEW)).text).not.toContain('to add or ignore');
    for (const path of [ADD, IGNORE]) {
      expect((await stranger.browser.post(path)).status).toBe(404);
      expect((await owner.browser.post(path, { form_token: 'forged' })).status).toBe(403);
    }
    expect(await domains()).toEqual([]);
  });

  test('are gone when another account has the domain', async () => {
    await aDomain(api.db, await aBareAccount(api.db), { name: 'example.com' });
    expect((await owner.browser.post(ADD)).status).toBe(404);
    expect(await proposals()).toEqual([['evil.example', false]]);
  });
});
