import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import createClient, { type Client } from 'openapi-fetch';
import type { components, operations, paths } from './v1.d.ts';

export type * from './codes.d.ts';
export type { components, operations, paths };

type Schemas = components['schemas'];
export type Plumbline = Client<paths>;
/** What a webhook sends. More types may come. */
export type WebhookEvent =
  | Schemas['AlertEvent']
  | Schemas['ReportEvent']
  | Schemas['TlsReportEvent']
  | Schemas['ChangeEvent']
  | Schemas['TestEvent'];
/** A report as `follow` puts it with `include: 'records'`. */
export type ReportWithRecords = Required<Schemas['ChangedReport']>;

/** The caller's own copy. What was put or deleted may come again after a failure, and changes nothing then. */
export interface Copy<Report = Schemas['AccountReport']> {
  put(kind: 'domain', item: Schemas['Domain']): unknown;
  put(kind: 'report', item: Report): unknown;
  put(kind: 'alert', item: Schemas['Alert']): unknown;
  /** Deletes one item, or all of a domain. */
  delete(
    kind: 'domain' | 'report' | 'alert',
    which: { id: string } | { domain_id: string },
  ): unknown;
  /** Keeps the cursor: all before it is put and deleted. */
  save(cursor: string): unknown;
  /** Discards the copy and its cursor, because ids may be others. It is filled again from the start. */
  clear(): unknown;
}

export interface FollowOptions {
  /** The one that `save` kept last. */
  cursor?: string;
  /** How long to wait at the feed's end: without it, `follow` returns there. */
  everyMs?: number;
  signal?: AbortSignal;
}

/** With it, each report has its records. */
export type WithRecords = FollowOptions & { include: 'records' };

const TIMEOUT_MS = 30_000;
const MAX_WAIT_S = 60;
/** What one request may have. An answer ends at 4 MiB besides. */
const LIMIT = 1_000;
const REPEATED = [408, 429, 500, 502, 503, 504];

/** The API with its types: `connect(url, key).GET('/v1/external/domains')`. */
export const connect = (baseUrl: string, apiKey: string): Plumbline =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });

/** Brings a copy of the account up to date, and keeps it so. Throws where repeating does not help, after a 401 for example. */
export function follow(
  plumbline: Plumbline,
  copy: Copy<ReportWithRecords>,
  options: WithRecords,
): Promise<void>;
export function follow(plumbline: Plumbline, copy: Copy, options?: FollowOptions): Promise<void>;
export async function follow(
  plumbline: Plumbline,
  copy: Copy<ReportWithRecords>,
  options: FollowOptions & Partial<WithRecords> = {},
): Promise<void> {
  const { everyMs, signal, include } = options;
  for (let cursor = options.cursor ?? 'start'; ; ) {
    const { data: page, response } = await ask(
      plumbline,
      { after: cursor, limit: LIMIT, ...(include && { include }) },
      signal,
    );
    if (page === undefined) {
      await copy.clear();
      cursor = 'start';
      continue;
    }
    // openapi-fetch takes the codes that are not known yet for objects.
    for (const change of page.data) await apply(change as Schemas['Change'], copy);
    cursor = response.headers.get('Plumbline-Cursor') ?? cursor;
    await copy.save(cursor);
    if (page.has_more) continue;
    if (everyMs === undefined) return;
    await wait(everyMs, undefined, { signal });
  }
}

async function apply(change: Schemas['Change'], copy: Copy<ReportWithRecords>): Promise<void> {
  const { type, domain_id } = change;
  if (change.domain) await copy.put('domain', change.domain);
  // It has records where they were asked for.
  if (change.report) await copy.put('report', change.report as ReportWithRecords);
  if (change.alert) await copy.put('alert', change.alert);
  if (change.report_id) await copy.delete('report', { id: change.report_id });
  if (type !== 'domain.unlisted' && type !== 'domain.removed') return;
  await copy.delete('domain', { id: domain_id });
  await copy.delete('report', { domain_id });
  if (type === 'domain.removed') await copy.delete('alert', { domain_id });
}

/** A page, or without `data` a 410. Waits and asks again while repeating helps. */
async function ask(
  plumbline: Plumbline,
  query: NonNullable<operations['listChanges']['parameters']['query']>,
  signal = new AbortController().signal,
) {
  const params = { query };
  for (let backoff = 1; ; backoff = Math.min(2 * backoff, MAX_WAIT_S)) {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const sent = plumbline.GET('/v1/external/changes', { params, signal: limited });
    // No connection, or no whole answer in time.
    const answer = await sent.catch(() => undefined);
    const status = answer?.response.status ?? 503;
    if (answer && (status === 200 || status === 410)) return answer;
    if (!REPEATED.includes(status))
      throw new Error(`Plumbline answered ${status}`, { cause: answer?.error });
    const seconds = Number(answer?.response.headers.get('Retry-After')) || backoff;
    await wait(seconds * 1_000, undefined, { signal });
  }
}

/** Those of `fetch`, or of Node and Express: `request.headers`. */
export type WebhookHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The event of a delivery: its body as it came. Throws when it was not signed with the secret in the last five minutes. */
export function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
): WebhookEvent {
  const fields = Object.entries(headers instanceof Headers ? Object.fromEntries(headers) : headers);
  const get = (name: string) =>
    String(fields.find(([key]) => key.toLowerCase() === `webhook-${name}`)?.[1] ?? '');
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = createHmac('sha256', key)
    .update(`${get('id')}.${get('timestamp')}.`)
    .update(body);
  const wanted = Buffer.from(`v1,${signed.digest('base64')}`);
  const given = get('signature')
    .split(' ')
    .map((signature) => Buffer.from(signature));
  const isSigned = given.some(
    (one) => one.length === wanted.length && timingSafeEqual(one, wanted),
  );
  const isRecent = Math.abs(Date.now() / 1_000 - Number(get('timestamp'))) <= 300;
  if (!isSigned || !isRecent)
    throw new Error('The delivery is old, or not signed with this secret.');
  return JSON.parse(Buffer.from(body as string).toString());
}
