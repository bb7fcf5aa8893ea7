import type { Response } from 'express';
import { html } from 'hono/html';
import { isExpired, parseKeyExpiry } from '../../domain/access/key-expiry.ts';
import { Failure } from '../../domain/failure.ts';
import {
  deleteApiKey,
  findApiKey,
  insertApiKey,
  listApiKeys,
  updateApiKey,
} from '../../store/accounts/api-keys.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { statusOf } from '../errors.ts';
import { sendPage } from '../frame/page.ts';
import { baseUrlOf, idOf, readField } from '../request.ts';
import { actorOf, onForm, visitorOf } from '../visitor.ts';
import {
  type CreatedKey,
  KEYS_PATH,
  type RefusedKey,
  renderCreated,
  renderDeletion,
  renderKeyCreation,
  renderKeys,
} from './api-keys-view.ts';

export const showApiKeys: PageHandler = (deps, _req, res) => sendApiKeys(deps, res);

/** Shows the key in the answer itself: it is stored nowhere, so no later page could show it. */
export const createApiKey: PageHandler = async (deps, req, res) => {
  const [name, expires] = [readField(req, 'name'), readField(req, 'expires')];
  const lastDay = readField(req, 'last_day');
  const by = actorOf(res, deps);
  let field: RefusedKey['field'] = 'expires';
  try {
    const expiresAt = parseKeyExpiry(chooseExpiry(expires, lastDay), by.at);
    field = 'name';
    const key = { accountId: by.accountId, name, now: by.at, expiresAt };
    const created = await insertApiKey(deps.store.db, key, by);
    await sendApiKeys(deps, res, { created });
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error;
    const refused = { failure: error, field, name, expires, lastDay };
    await sendApiKeys(deps, res, { refused });
  }
};

/** A typed day counts even when the list beside it still says that the key does not expire. */
function chooseExpiry(expires: string, lastDay: string): string {
  if (expires === 'day') return lastDay;
  if (lastDay === '') return expires || 'none';
  if (expires === '' || expires === 'none') return lastDay;
  throw new Failure('validation_error', 'Choose a number of days or a last day, not both.');
}

export const enableApiKey = onForm(KEYS_PATH, async ({ db, req, by }) => {
  const { name, expiresAt } = await updateApiKey(db, idOf(req), true, by);
  return isExpired(expiresAt, by.at)
    ? `“${name}” is on, and has expired: requests with it are still rejected.`
    : `“${name}” is on: requests with it are accepted again.`;
});

export const disableApiKey = onForm(KEYS_PATH, async ({ db, req, by }) => {
  const { name } = await updateApiKey(db, idOf(req), false, by);
  return `“${name}” is off: requests with it are rejected from now on.`;
});

export const askToDelete: PageHandler = async ({ store }, req, res) => {
  const visitor = visitorOf(res);
  const key = await findApiKey(store.db, visitor.accountId, idOf(req));
  const main = renderDeletion(key, visitor);
  await sendPage(res, { title: 'Delete an API key', current: 'api-keys', main });
};

export const removeApiKey = onForm(KEYS_PATH, async ({ db, req, by }) => {
  const { name } = await deleteApiKey(db, idOf(req), by);
  return `“${name}” is deleted: requests with it are rejected from now on.`;
});

async function sendApiKeys(
  deps: SettingsDeps,
  res: Response,
  { created, refused }: { created?: CreatedKey; refused?: RefusedKey } = {},
): Promise<void> {
  const visitor = visitorOf(res);
  const keys = await listApiKeys(deps.store.db, visitor.accountId);
  const now = deps.now();
  const main = html`<p class="trail">Settings / Integrations</p>
    <h1>API keys</h1>
    <p class="lead">Dashboards and scripts read this account’s domains, reports and alerts with a key. <a href="/docs/getting-started">How to begin</a>, also without a key, in the sandbox.</p>
    <div id="keys">
      ${created === undefined ? '' : renderCreated(created, baseUrlOf(deps, res.req))}
      ${renderKeys(keys, visitor, now)}
      ${renderKeyCreation(visitor, keys.length, { refused, now })}
    </div>`;
  const status = refused === undefined ? 200 : statusOf(refused.failure, res.req);
  await sendPage(res, { title: 'API keys', current: 'api-keys', status, main, hasParts: true });
}
