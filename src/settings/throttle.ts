import { hash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import { Failure } from '../domain/failure.ts';
import { toEmailKey } from '../domain/person.ts';
import { readField } from './form.ts';
import { visitorOf } from './visitor.ts';

const WINDOW_MINUTES = 15;
/** Failed attempts in a window. A guess in a minute and a half finds no password of twelve characters. */
const PER_PERSON = 10;
/** An office behind one address has more people than one, with bad days of their own. */
const PER_ADDRESS = 30;
const IPV6_SUBNET = 64;

/** Failed sign-ins from one address; unknown e-mail addresses count like known ones. */
export function throttleAddress(): RequestHandler {
  return throttle(PER_ADDRESS, (req) => ipKeyGenerator(req.ip ?? '', IPV6_SUBNET));
}

/** Failed sign-ins with one e-mail address, whether or not it is somebody's. */
export function throttleEmail(): RequestHandler {
  return throttle(PER_PERSON, (req) => hash('sha256', toEmailKey(readField(req, 'email'))));
}

/** Wrong passwords of somebody who is signed in: a session that was left open is no place to guess. */
export function throttleVisitor(): RequestHandler {
  return throttle(PER_PERSON, (_req, res) => visitorOf(res).personId);
}

/** Counted when they come and taken back when they succeed, so that many at once are counted too. */
function throttle(limit: number, toKey: (req: Request, res: Response) => string): RequestHandler {
  return rateLimit({
    limit,
    windowMs: WINDOW_MINUTES * 60_000,
    keyGenerator: toKey,
    standardHeaders: false,
    legacyHeaders: false,
    skipSuccessfulRequests: true,
    requestWasSuccessful: (_req, res) => res.statusCode === 303,
    handler: (_req, res, next) => {
      res.set('Retry-After', String(WINDOW_MINUTES * 60));
      next(
        new Failure('rate_limited', `Too many attempts. Try again in ${WINDOW_MINUTES} minutes.`),
      );
    },
  });
}
