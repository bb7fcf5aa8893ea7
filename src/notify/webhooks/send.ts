import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook as Signer } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { EVENT_DAYS } from '../../domain/events.ts';
import { createGuardedLookUp, type LookUpAddresses } from '../../domain/guarded-look-up.ts';
import { DAY_MS } from '../../domain/instant.ts';
import {
  createJudge,
  findAddressFailure,
  findLiteralAddress,
  type JudgeAddress,
} from '../../domain/webhooks/address.ts';
import type { DeliveryOutcome } from '../../store/notify/claims.ts';

/** The time for connecting and answering together. */
const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const KEPT_ANSWER_BYTES = 500;
/** The event is deleted after this time. */
const MAX_RETRY_AFTER_MS = EVENT_DAYS * DAY_MS;

export interface WebhookMessage {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  /** `whsec_…`. Each signs. */
  readonly secrets: readonly string[];
}

export interface SendDeps {
  /** Networks that may be called though they are not public, by HTTP too. */
  readonly allowed: readonly string[];
  readonly lookUp: LookUpAddresses;
  readonly now: () => Date;
  readonly timeoutMs?: number | undefined;
}

/** Sends a message once, by a connection of its own. Never rejects. */
export async function send(
  deps: SendDeps,
  message: WebhookMessage,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const begunAt = performance.now();
  const { timeoutMs = TIMEOUT_MS } = deps;
  const timeout = AbortSignal.timeout(timeoutMs);
  const url = new URL(message.url);
  const judge = createJudge(deps.allowed);
  // Half of it: the error at the end of it would not say that it is the DNS that does not answer.
  const lookUp = createGuardedLookUp(url, judge, boundLookUp(deps.lookUp, timeoutMs / 2));
  const agent = new Agent({ connect: { lookup: lookUp } });
  const until = AbortSignal.any([signal, timeout]);
  const given = { judge, now: deps.now, dispatcher: agent, signal: until };
  const outcome = await post(url, message, given).catch((error: unknown) => ({
    kind: 'failed' as const,
    answer: describe(error),
  }));
  await agent.destroy();
  return { ...outcome, tookMs: performance.now() - begunAt };
}

async function post(
  url: URL,
  { body, ...message }: WebhookMessage,
  deps: Pick<SendDeps, 'now'> & { judge: JudgeAddress; dispatcher: Agent; signal: AbortSignal },
): Promise<DeliveryOutcome> {
  const { judge, now, dispatcher, signal } = deps;
  const literal = findLiteralAddress(url);
  const refusal = literal && findAddressFailure(url, literal, judge);
  if (refusal) throw refusal;
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Plumbline',
    ...sign(message, body, now()),
  };
  // No redirect is followed: that would need an interceptor.
  const options = { method: 'POST', headers, body, dispatcher, signal } as const;
  const response = await request(url, options);
  const answer = await readBeginning(response.body);
  return toOutcome(response.statusCode, response.headers['retry-after'], { answer, now: now() });
}

function sign({ id, secrets }: Omit<WebhookMessage, 'body'>, body: string, at: Date) {
  const signatures = secrets.map((secret) => new Signer(secret).sign(id, at, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}

function boundLookUp(lookUp: LookUpAddresses, timeoutMs: number): LookUpAddresses {
  return async (name) => {
    const late = sleep(timeoutMs, undefined, { ref: false });
    const addresses = await Promise.race([lookUp(name), late]);
    if (addresses === undefined) throw new Error(`No DNS server answered for ${name} in time.`);
    return addresses;
  };
}

/** Reads no more than it must: an answer may never end. */
async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    if (size < KEPT_ANSWER_BYTES) chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, KEPT_ANSWER_BYTES).toString('utf8');
}

function toOutcome(
  status: number,
  retryAfter: string | string[] | undefined,
  { answer, now }: { readonly answer: string; readonly now: Date },
): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, answer };
  // 410: it wants no more.
  if (status === 410) return { kind: 'refused', status, answer };
  const mayWait = (status === 429 || status === 503) && typeof retryAfter === 'string';
  const atLeastMs = mayWait ? parseRetryAfter(retryAfter, now) : 0;
  return { kind: 'failed', status, answer, atLeastMs };
}

/** Seconds or a date (RFC 9110, 10.2.3); 0 for anything else. */
function parseRetryAfter(text: string, now: Date): number {
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/** A text for the owner of the endpoint. The reason that the library wraps says more than its own message. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'It did not answer in time.';
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const { message } = inner instanceof Error ? inner : error;
  return message.slice(0, KEPT_ANSWER_BYTES);
}
