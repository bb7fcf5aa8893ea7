import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ClientRateLimitInfo } from 'express-rate-limit';

/** A limit that a request was counted by: its name in the headers, and what its store says of the client. */
export interface AppliedLimit extends ClientRateLimitInfo {
  readonly name: string;
  readonly limit: number;
}

/** What the log tells of a request beside its path and its answer. */
interface Logged {
  /** The request's id in the answer and in the log. */
  id: string;
  /** The account whose key it has, or whose person sent it. */
  accountId?: string;
  personId?: string;
  /** The limit of the pages that it met. */
  limit?: string;
  /** Why its status is 403. */
  reason?: string;
}

/** Node's request, with what the checks have found out about it. The API needs nothing of Express's. */
export interface ApiRequest extends IncomingMessage, Logged {
  ip?: string | undefined;
  ipLimit?: AppliedLimit;
  keyLimit?: AppliedLimit;
  /** Whether `/sandbox` was taken away from the beginning of its path. */
  isSandbox?: true;
  /** The operation of a valid request. */
  operation?: string;
  /** The tool that an agent calls, and the status of its operation: that of HTTP is 200. */
  tool?: string;
  status?: number;
}

declare module 'express-serve-static-core' {
  interface Request extends Logged {}
}

/** Other characters could forge a line in a log. */
const KEPT = /^[A-Za-z0-9_-]{1,64}$/;

/** The id that every answer contains. A caller's own id is kept when it matches. */
export function toRequestId({ headers }: IncomingMessage): string {
  const id = headers['x-request-id'];
  return typeof id === 'string' && KEPT.test(id) ? id : randomUUID();
}
