import { randomBytes } from 'node:crypto';
import type { RequestHandler } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** The request's id in the answer and in the log. */
    id: string;
  }
}

/** Other characters could forge a line in a log. */
const KEPT = /^[A-Za-z0-9_-]{1,64}$/;

/** Gives every request an id, which every answer contains. A caller's own id is kept when it matches (1.14). */
export const requestId: RequestHandler = (req, _res, next) => {
  const given = req.headers['x-request-id'];
  req.id = typeof given === 'string' && KEPT.test(given) ? given : newRequestId();
  next();
};

/** Random once for the process, then counted: random bytes for each request would cost a system call. */
const PROCESS = randomBytes(6).toString('base64url');
let count = 0;

function newRequestId(): string {
  count += 1;
  return `${PROCESS}-${count.toString(36)}`;
}
