import type { Request, RequestHandler, Response } from 'express';
import { isExpired, parseKeyExpiry } from '../../domain/access/key-expiry.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import {
  type ApiKey,
  deleteApiKey,
  findApiKey,
  insertApiKey,
  listApiKeys,
  updateApiKey,
} from '../../store/accounts/api-keys.ts';
import { statusOf } from '../errors.ts';
import { readField } from '../form.ts';
import { sendPage } from '../frame/page.ts';
import type { Given } from '../given.ts';
import { actorOf, leaveNotice, visitorOf } from '../visitor.ts';
import {
  type CreatedKey,
  type RefusedKey,
  renderApiKeys,
  renderDeletion,
} from './api-keys-view.ts';

const PATH = '/settings/integrations/api-keys';
const PLACE = { title: 'API keys', place: 'api-keys' } as const;

export function showApiKeys(given: Given): RequestHandler {
  return async (req, res) => await sendApiKeys(given, req, res);
}

/**
 * Creates a key and shows it in the answer itself: the key is stored nowhere, so no later page could show it.
 */
export function createApiKey(given: Given): RequestHandler {
  return async (req, res) => {
    const [name, expires] = [readField(req, 'name'), readField(req, 'expires')];
    const lastDay = readField(req, 'last_day');
    const by = actorOf(req, res, given);
    let field: RefusedKey['field'] = 'expires';
    try {
      const expiresAt = parseKeyExpiry(toWantedExpiry(expires, lastDay), by.at);
      field = 'name';
      const wanted = { accountId: visitorOf(res).accountId, name, now: by.at, expiresAt };
      const created = await insertApiKey(given.store.db, wanted, by);
      await sendApiKeys(given, req, res, { created });
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'unavailable') throw error;
      const refused = { failure: error, field, name, expires, lastDay };
      await sendApiKeys(given, req, res, { refused });
    }
  };
}

/** A day that somebody typed counts, also when the list beside it still says that the key does not expire. */
function toWantedExpiry(expires: string, lastDay: string): string {
  if (expires === 'day') return lastDay;
  if (lastDay === '') return expires || 'none';
  if (expires === '' || expires === 'none') return lastDay;
  throw new Failure('validation_error', 'Choose a number of days or a last day, not both.');
}

export function switchApiKey(given: Given, isEnabled: boolean): RequestHandler {
  return async (req, res) => {
    const by = actorOf(req, res, given);
    const key = await updateApiKey(given.store.db, toId(req), isEnabled, by);
    await goBack(given, res, toNotice(key, by.at));
  };
}

function toNotice({ name, enabled, expiresAt }: ApiKey, now: Instant): string {
  if (!enabled) return `“${name}” is off: requests with it are rejected from now on.`;
  return isExpired(expiresAt, now)
    ? `“${name}” is on, and has expired: requests with it are still rejected.`
    : `“${name}” is on: requests with it are accepted again.`;
}

export function askToDelete({ store }: Given): RequestHandler {
  return async (req, res) => {
    const visitor = visitorOf(res);
    const key = await findApiKey(store.db, visitor.accountId, toId(req));
    await sendPage(res, {
      ...PLACE,
      title: 'Delete an API key',
      main: renderDeletion(key, visitor),
    });
  };
}

export function removeApiKey(given: Given): RequestHandler {
  return async (req, res) => {
    const { name } = await deleteApiKey(given.store.db, toId(req), actorOf(req, res, given));
    await goBack(given, res, `“${name}” is deleted: requests with it are rejected from now on.`);
  };
}

async function sendApiKeys(
  { store: { db }, baseUrl, now }: Given,
  req: Request,
  res: Response,
  { created, refused }: { created?: CreatedKey; refused?: RefusedKey } = {},
): Promise<void> {
  const visitor = visitorOf(res);
  const main = renderApiKeys({
    visitor,
    keys: await listApiKeys(db, visitor.accountId),
    baseUrl: baseUrl ?? `${req.protocol}://${req.host}`,
    now: now(),
    created,
    refused,
  });
  const status = refused === undefined ? 200 : statusOf(refused.failure);
  await sendPage(res, { ...PLACE, status, main });
}

async function goBack(given: Given, res: Response, notice: string): Promise<void> {
  await leaveNotice(given, res, notice);
  res.redirect(303, PATH);
}

function toId(req: Request): string {
  return String(req.params['id']);
}
