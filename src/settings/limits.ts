import { hash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { type Options, type RateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import { toEmailKey } from '../domain/access/person.ts';
import { toClientNetwork } from '../domain/client-address.ts';
import { Failure } from '../domain/failure.ts';
import { DAY_MS } from '../domain/instant.ts';
import { SteadyStore } from '../domain/steady-store.ts';
import { pluralize } from '../domain/text.ts';
import type { SettingsDeps } from './deps.ts';
import { readField } from './request.ts';
import { findPending } from './sign-in/code.ts';
import { visitorOf } from './visitor.ts';

const MINUTE_MS = 60_000;

/** An office with one address has many people, each with failed attempts of their own. */
const FAILURES_PER_ADDRESS = 30;
/** At one guess in 90 seconds, a password of twelve characters is not found. */
const FAILURES_PER_PERSON = 10;
const SUCCESSES_PER_ADDRESS = 300;

type KeyOf = (req: Request, res: Response) => string;

const addressOf: KeyOf = ({ ip = '' }) => toClientNetwork(ip);
const emailOf: KeyOf = (req) => hash('sha256', toEmailKey(readField(req, 'email')));
const personOf: KeyOf = (_req, res) => visitorOf(res).personId;
const accountOf: KeyOf = (_req, res) => visitorOf(res).accountId;
/** The person of a sign-in that waits for its code, or who is signed in. */
const personOfCode: KeyOf = (_req, res) => (findPending(res) ?? visitorOf(res)).personId;

/** 303 is a success, and so is 200 with new recovery codes. 503 means that nothing was checked, so it is neither. */
const SUCCESSES: ReadonlySet<number> = new Set([200, 303, 503]);
const isSuccess = ({ statusCode }: Response) => SUCCESSES.has(statusCode);

type CountedRequests = Partial<Options>;

const ALL: CountedRequests = {};
const FAILED: CountedRequests = {
  skipSuccessfulRequests: true,
  requestWasSuccessful: (_req, res) => isSuccess(res),
};
const FAILED_CODES: CountedRequests = {
  skipSuccessfulRequests: true,
  requestWasSuccessful: (_req, res) => isSuccess(res) || res.locals['isCodeUncounted'] === true,
};
const SIGNED_IN: CountedRequests = {
  skipFailedRequests: true,
  requestWasSuccessful: (_req, { statusCode }) => statusCode === 303,
};

interface Limit {
  readonly max: number;
  readonly keyOf: KeyOf;
  readonly counted: CountedRequests;
  readonly windowMs?: number;
  /** What there are too many of. Default: attempts. */
  readonly what?: string;
}

const LIMITS = {
  // Unknown e-mail addresses count like known ones.
  'failed-by-address-password': { max: FAILURES_PER_ADDRESS, keyOf: addressOf, counted: FAILED },
  'failed-by-address-provider': { max: FAILURES_PER_ADDRESS, keyOf: addressOf, counted: FAILED },
  'failed-by-address-code': { max: FAILURES_PER_ADDRESS, keyOf: addressOf, counted: FAILED },
  'failed-by-email': { max: FAILURES_PER_PERSON, keyOf: emailOf, counted: FAILED },
  // A signed-in person's wrong passwords: an unattended session must not allow guessing the password.
  'failed-by-visitor': { max: FAILURES_PER_PERSON, keyOf: personOf, counted: FAILED },
  // They have entered the password or signed in at the provider. Three codes of a million are right at any time, so whoever knows the password finds one within a day with a probability of 0.15 %.
  'failed-codes': { max: 5, keyOf: personOfCode, counted: FAILED_CODES },
  // Each sign-in occupies a thread for its hash and writes a session.
  'signed-in-by-address': { max: SUCCESSES_PER_ADDRESS, keyOf: addressOf, counted: SIGNED_IN },
  'signed-in-by-email': { max: 60, keyOf: emailOf, counted: SIGNED_IN },
  // Each mails a link when somebody has the address. A limit by e-mail would let anybody lock a person out.
  'links-by-address': { max: 20, keyOf: addressOf, counted: ALL },
  // A provider ends the subscriptions of many people from few addresses.
  unsubscribed: { max: SUCCESSES_PER_ADDRESS, keyOf: addressOf, counted: ALL },
  // Each request may cause a request to the provider.
  'single-sign-on': { max: SUCCESSES_PER_ADDRESS, keyOf: addressOf, counted: ALL },
  // Each check sends queries to DNS servers of others, and may wait for ten seconds.
  'dns-checks': { max: 30, keyOf: personOf, counted: ALL, what: 'checks' },
  // The page of a report of 10,000 records costs some 50 ms of CPU.
  'report-readings': { max: 300, keyOf: personOf, counted: ALL, what: 'pages' },
  // A file of 100,000 rows costs a second or two.
  exports: { max: 60, keyOf: personOf, counted: ALL, what: 'files' },
  // The list of a year in which each day has a thousand other addresses costs half a second.
  'source-pages': { max: 300, keyOf: personOf, counted: ALL, what: 'pages' },
  // Each may have 25 MiB, and occupy the parser for half a minute.
  uploads: { max: 30, keyOf: personOf, counted: ALL, what: 'uploads' },
  'uploads-of-account': {
    max: 200,
    keyOf: accountOf,
    counted: ALL,
    what: 'uploads',
    windowMs: DAY_MS,
  },
  // Forms, except those about the own sign-in: they write, and the audit grows with them.
  changes: { max: 600, keyOf: personOf, counted: ALL, what: 'changes' },
  // Refused ones included: a refusal says that somebody has the address.
  invitations: { max: 50, keyOf: accountOf, counted: ALL, what: 'invitations', windowMs: DAY_MS },
} as const satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof LIMITS;
export type Limits = Readonly<Record<LimitName, RequestHandler>>;

/** Routes that share a limit count together. */
export function createLimits({ createStore }: Pick<SettingsDeps, 'createStore'>): Limits {
  const limits = Object.entries(LIMITS).map(([name, limit]) => {
    const store = createStore?.(name);
    return [name, createLimit(name, limit, store ?? new SteadyStore())];
  });
  return Object.fromEntries(limits);
}

/** When the password is wrong, the code was not checked. */
export function leaveCodeUncounted(res: Response): void {
  res.locals['isCodeUncounted'] = true;
}

/** Counts each request on arrival and subtracts it later when it need not count, so concurrent requests count too. */
function createLimit(
  name: string,
  { max, keyOf, counted, windowMs = 15 * MINUTE_MS, what = 'attempts' }: Limit,
  store: Store,
): RequestHandler {
  return rateLimit({
    limit: max,
    store,
    windowMs,
    keyGenerator: keyOf,
    standardHeaders: false,
    legacyHeaders: false,
    ...counted,
    handler: (req, res, next) => {
      req.limit = name;
      const leftMs = findLeftMs(req) ?? windowMs;
      res.set('Retry-After', String(Math.ceil(leftMs / 1000)));
      const wait = formatWait(leftMs);
      next(new Failure('rate_limited', `Too many ${what} in a short time. Try again in ${wait}.`));
    },
  });
}

/** undefined when the counter does not say when its window ends. */
function findLeftMs(req: Request): number | undefined {
  const { rateLimit: info } = req as Request & { readonly rateLimit?: RateLimitInfo };
  return info?.resetTime && Math.max(1, info.resetTime.getTime() - Date.now());
}

/** “15 minutes”, “4 hours”: rounded up. */
function formatWait(ms: number): string {
  const minutes = Math.ceil(ms / MINUTE_MS);
  return minutes <= 90 ? pluralize(minutes, 'minute') : pluralize(Math.ceil(minutes / 60), 'hour');
}
