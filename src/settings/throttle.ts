import { hash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { type Options, type RateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import { toEmailKey } from '../domain/access/person.ts';
import { toClientNetwork } from '../domain/client-address.ts';
import { Failure } from '../domain/failure.ts';
import { readField } from './form.ts';
import type { Given } from './given.ts';
import { findPending } from './sign-in/code.ts';
import { visitorOf } from './visitor.ts';

const WINDOW_MINUTES = 15;
/** Failed attempts in a window. At one guess in 90 seconds, a password of twelve characters is not found. */
const PER_PERSON = 10;
/** An office with one address has many people, each with failed attempts of their own. */
const PER_ADDRESS = 30;
/**
 * Wrong codes of a second factor in a window. Three codes of a million are right at any time, so somebody who knows the
 * password finds one within a day with a probability of 0.15 %.
 */
const CODES_PER_PERSON = 5;
/** Successful sign-ins in a window: each occupies a thread for its hash and writes a session. */
const SUCCESSES_PER_PERSON = 60;
const SUCCESSES_PER_ADDRESS = 300;

/** Checks of DNS in a window: each sends queries to servers of others, and may wait for ten seconds. */
const CHECKS_PER_PERSON = 30;

/** Reports that are read again from their originals, which costs up to some seconds of CPU each. */
const READINGS_PER_PERSON = 300;

/** Pages of sources. The list of a year in which each day has a thousand other addresses costs half a second. */
const SOURCES_PER_PERSON = 300;

/** Changes that a signed-in person makes, each of which the audit keeps. */
const CHANGES_PER_PERSON = 600;

/** Invitations of an account in a day, refused ones included: a refusal says that somebody has the address. */
const INVITATIONS_PER_ACCOUNT = 50;
const DAY_MINUTES = 24 * 60;

type Counting = Pick<Given, 'createStore'>;

/** Failed sign-ins from one address. Unknown e-mail addresses count like known ones. */
export function throttleAddress(
  { createStore }: Counting,
  way: 'password' | 'provider' | 'code',
): RequestHandler {
  const store = createStore?.(`failed-by-address-${way}`);
  return throttle({ limit: PER_ADDRESS, toKey: toAddressKey, store });
}

/** Failed sign-ins with one e-mail address, whether or not it is known. */
export function throttleEmail({ createStore }: Counting): RequestHandler {
  const store = createStore?.('failed-by-email');
  return throttle({ limit: PER_PERSON, toKey: toEmailHash, store });
}

/** Successful sign-ins of one person, and from one address. */
export function limitSuccesses({ createStore }: Counting): RequestHandler[] {
  const byAddress = {
    limit: SUCCESSES_PER_ADDRESS,
    toKey: toAddressKey,
    store: createStore?.('signed-in-by-address'),
  };
  const byEmail = {
    limit: SUCCESSES_PER_PERSON,
    toKey: toEmailHash,
    store: createStore?.('signed-in-by-email'),
  };
  return [throttle(byAddress, COUNT_SUCCESSES), throttle(byEmail, COUNT_SUCCESSES)];
}

/**
 * Every request to single sign-on from one address, whatever its result: each may cause a request to the
 * provider.
 */
export function throttleSingleSignOn({ createStore }: Counting): RequestHandler {
  const store = createStore?.('single-sign-on');
  return throttle({ limit: SUCCESSES_PER_ADDRESS, toKey: toAddressKey, store }, {});
}

/** Wrong passwords of a signed-in person: an unattended session must not allow guessing the password. */
export function throttleVisitor({ createStore }: Counting): RequestHandler {
  const store = createStore?.('failed-by-visitor');
  return throttle({ limit: PER_PERSON, toKey: toPersonId, store });
}

/**
 * Wrong codes of a second factor of one person, who has entered the password or signed in at the provider. All forms
 * that ask for a code share one of these: the pages count together.
 */
export function throttleCodes({ createStore }: Counting): RequestHandler {
  const store = createStore?.('failed-codes');
  return throttle(
    { limit: CODES_PER_PERSON, toKey: toPersonOfCode, store },
    {
      ...COUNT_FAILURES,
      requestWasSuccessful: (_req, res) => isSuccess(res) || res.locals['isCodeUncounted'] === true,
    },
  );
}

/** The password was wrong: whether the code is right was not found out. */
export function leaveCodeUncounted(res: Response): void {
  res.locals['isCodeUncounted'] = true;
}

/** Checks of DNS by a signed-in person. */
export function limitChecks({ createStore }: Counting): RequestHandler {
  const store = createStore?.('dns-checks');
  return throttle({ limit: CHECKS_PER_PERSON, toKey: toPersonId, store }, {});
}

/** Reports that a signed-in person looks at or downloads. */
export function limitReadings({ createStore }: Counting): RequestHandler {
  const store = createStore?.('report-readings');
  return throttle({ limit: READINGS_PER_PERSON, toKey: toPersonId, store }, {});
}

/** Lists and pages of sources that a signed-in person looks at. */
export function limitSources({ createStore }: Counting): RequestHandler {
  const store = createStore?.('source-pages');
  return throttle({ limit: SOURCES_PER_PERSON, toKey: toPersonId, store }, {});
}

/**
 * Forms that a signed-in person sends, except those about the own sign-in: they write, and the audit grows with them.
 */
export function limitChanges({ createStore }: Counting): RequestHandler {
  const store = createStore?.('changes');
  return throttle({ limit: CHANGES_PER_PERSON, toKey: toPersonId, store }, {});
}

/** Invitations by the owners of an account. */
export function limitInvitations({ createStore }: Counting): RequestHandler {
  const store = createStore?.('invitations');
  const daily = { limit: INVITATIONS_PER_ACCOUNT, windowMinutes: DAY_MINUTES };
  return throttle({ ...daily, toKey: toAccountId, store }, {});
}

type ToKey = (req: Request, res: Response) => string;

const toAddressKey: ToKey = ({ ip = '' }) => toClientNetwork(ip);
const toPersonId: ToKey = (_req, res) => visitorOf(res).personId;
const toAccountId: ToKey = (_req, res) => visitorOf(res).accountId;
/** Of a sign-in that waits for its code, or of a signed-in person. */
const toPersonOfCode: ToKey = (_req, res) => (findPending(res) ?? visitorOf(res)).personId;
const toEmailHash: ToKey = (req) => hash('sha256', toEmailKey(readField(req, 'email')));

/** 303 is a success, and so is 200 with new recovery codes. 503 means that nothing was checked, so it is neither. */
const SUCCESSES: ReadonlySet<number> = new Set([200, 303, 503]);
const isSuccess = ({ statusCode }: Response) => SUCCESSES.has(statusCode);
const COUNT_FAILURES: Partial<Options> = {
  skipSuccessfulRequests: true,
  requestWasSuccessful: (_req, res) => isSuccess(res),
};
const COUNT_SUCCESSES: Partial<Options> = {
  skipFailedRequests: true,
  requestWasSuccessful: (_req, { statusCode }) => statusCode === 303,
};

interface Throttle {
  readonly limit: number;
  readonly toKey: ToKey;
  readonly store: Store | undefined;
  readonly windowMinutes?: number;
}

/**
 * Counts each request when it arrives, and subtracts it later when it need not count. So concurrent requests
 * are counted too.
 */
function throttle(
  { limit, toKey, store, windowMinutes = WINDOW_MINUTES }: Throttle,
  counted = COUNT_FAILURES,
): RequestHandler {
  const windowMs = windowMinutes * MINUTE_MS;
  return rateLimit({
    limit,
    ...(store === undefined ? {} : { store }),
    windowMs,
    keyGenerator: toKey,
    standardHeaders: false,
    legacyHeaders: false,
    ...counted,
    handler: (req, res, next) => {
      const leftMs = findLeftMs(req) ?? windowMs;
      res.set('Retry-After', String(Math.ceil(leftMs / 1000)));
      next(new Failure('rate_limited', `Too many attempts. Try again in ${toWait(leftMs)}.`));
    },
  });
}

const MINUTE_MS = 60_000;

/** How long the window goes on in which a request was counted; undefined when its counter does not say. */
function findLeftMs(req: Request): number | undefined {
  const { rateLimit: info } = req as Request & { readonly rateLimit?: RateLimitInfo };
  return info?.resetTime && Math.max(1, info.resetTime.getTime() - Date.now());
}

/** “15 minutes”, “4 hours”: never too short. */
function toWait(ms: number): string {
  const minutes = Math.ceil(ms / MINUTE_MS);
  const [count, unit] = minutes <= 90 ? [minutes, 'minute'] : [Math.ceil(minutes / 60), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
