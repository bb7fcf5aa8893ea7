import { hash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator, type Options, rateLimit } from 'express-rate-limit';
import { toEmailKey } from '../domain/access/person.ts';
import { Failure } from '../domain/failure.ts';
import { readField } from './form.ts';
import { visitorOf } from './visitor.ts';

const WINDOW_MINUTES = 15;
/** Failed attempts in a window. At one guess in 90 seconds, a password of twelve characters is not found. */
const PER_PERSON = 10;
/** An office with one address has many people, each with failed attempts of their own. */
const PER_ADDRESS = 30;
const IPV6_SUBNET = 64;
/** Successful sign-ins in a window: each occupies a thread for its hash and writes a session. */
const SUCCESSES_PER_PERSON = 60;
const SUCCESSES_PER_ADDRESS = 300;

/** Failed sign-ins from one address. Unknown e-mail addresses count like known ones. */
export function throttleAddress(): RequestHandler {
  return throttle(PER_ADDRESS, toAddressKey);
}

/** Failed sign-ins with one e-mail address, whether or not it is known. */
export function throttleEmail(): RequestHandler {
  return throttle(PER_PERSON, toEmailHash);
}

/** Successful sign-ins of one person, and from one address. */
export function limitSuccesses(): RequestHandler[] {
  return [
    throttle(SUCCESSES_PER_ADDRESS, toAddressKey, COUNT_SUCCESSES),
    throttle(SUCCESSES_PER_PERSON, toEmailHash, COUNT_SUCCESSES),
  ];
}

/**
 * Every request to single sign-on from one address, whatever its result: each may cause a request to the
 * provider.
 */
export function throttleSingleSignOn(): RequestHandler {
  return throttle(SUCCESSES_PER_ADDRESS, toAddressKey, {});
}

/** Wrong passwords of a signed-in person: an unattended session must not allow guessing the password. */
export function throttleVisitor(): RequestHandler {
  return throttle(PER_PERSON, (_req, res) => visitorOf(res).personId);
}

type ToKey = (req: Request, res: Response) => string;

const toAddressKey: ToKey = (req) => ipKeyGenerator(req.ip ?? '', IPV6_SUBNET);
const toEmailHash: ToKey = (req) => hash('sha256', toEmailKey(readField(req, 'email')));

/** 303 is a success. 503 means that the password was not checked, so it is neither. */
const COUNT_FAILURES: Partial<Options> = {
  skipSuccessfulRequests: true,
  requestWasSuccessful: (_req, { statusCode }) => statusCode === 303 || statusCode === 503,
};
const COUNT_SUCCESSES: Partial<Options> = {
  skipFailedRequests: true,
  requestWasSuccessful: (_req, { statusCode }) => statusCode === 303,
};

/**
 * Counts each request when it arrives, and subtracts it later when it need not count. So concurrent requests
 * are counted too.
 */
function throttle(limit: number, toKey: ToKey, counted = COUNT_FAILURES): RequestHandler {
  return rateLimit({
    limit,
    windowMs: WINDOW_MINUTES * 60_000,
    keyGenerator: toKey,
    standardHeaders: false,
    legacyHeaders: false,
    ...counted,
    handler: (_req, res, next) => {
      res.set('Retry-After', String(WINDOW_MINUTES * 60));
      next(
        new Failure('rate_limited', `Too many attempts. Try again in ${WINDOW_MINUTES} minutes.`),
      );
    },
  });
}
