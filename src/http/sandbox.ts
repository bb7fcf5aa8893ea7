import { execFile } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { Failure } from '../domain/failure.ts';
import { type Day, toDay, toInstant } from '../domain/instant.ts';
import { SANDBOX_PATH } from '../domain/sandbox.ts';
import { type ApiDeps, createExternalApi, type ExternalApi } from '../external/api.ts';
import { answerErrors } from '../external/errors.ts';
import type { ApiRequest } from '../external/request.ts';
import { toCacheEnv } from '../intake/parser/parser-process.ts';
import { createDaysReads } from '../judging/reads.ts';

const PROGRAM = fileURLToPath(new URL('../demo/sandbox-process.ts', import.meta.url));
/** Making the data takes some three seconds of CPU, and gives 2.5 MB. */
const MAKING = { encoding: 'buffer', timeout: 120_000, maxBuffer: 32 * 1024 * 1024 } as const;
/** How long a request waits for the data, and how long after a failure none is made. */
const [WAIT_MS, RETRY_MS] = [30_000, 30_000];
const PAGE_CACHE_BYTES = 1024 * 1024;

type Answer = (api: ExternalApi) => Promise<void>;
export type Sandbox = ReturnType<typeof createSandbox>;

interface SandboxDeps extends Omit<ApiDeps, 'store' | 'days'> {
  readonly log: Logger;
  readonly hasSandbox?: boolean;
  /** How long a request waits for the data. */
  readonly waitMs?: number | undefined;
}

/**
 * The sandbox of a server: the API over made-up data in memory. A process of its own makes the data for the first request, and
 * for the first one of each further day, because it ends with yesterday: until then the former answers.
 */
export function createSandbox(service: ExternalApi, deps: SandboxDeps) {
  const { now, log, logError, readVersion, hasSandbox = true } = deps;
  let made: { readonly day: Day; readonly api: ExternalApi } | undefined;
  let making: Promise<void> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const stopping = new AbortController();

  const make = async (day: Day): Promise<void> => {
    // The process gets no secret of this one.
    const options = { ...MAKING, env: toCacheEnv(), signal: stopping.signal };
    const args = ['--disable-warning=ExperimentalWarning', PROGRAM, day, readVersion()];
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    made = { day, api: await openApi(stdout, new Date(day)) };
  };

  /** What it answers depends on the day alone, so that all servers answer the same. It tells no address of the service's. */
  const openApi = async (bytes: Buffer, today: Date): Promise<ExternalApi> => {
    const { openSqliteBytes } = await import('../store/engine/sqlite/open.ts');
    const store = openSqliteBytes(bytes);
    const { contract, shared } = service;
    const clock = { now: () => today, logError };
    const pageCacheBytes = Math.min(deps.pageCacheBytes, PAGE_CACHE_BYTES);
    const days = createDaysReads(store, clock);
    const own = { ...clock, store, days, pageCacheBytes, networks: undefined };
    const addresses = { mailHost: undefined, reportAddress: undefined, smtpRecipients: undefined };
    return createExternalApi({ ...deps, ...own, ...addresses, kept: undefined, contract, shared });
  };

  const fail = ({ message }: Error): void => {
    failedAt = now().getTime();
    if (!stopping.signal.aborted) log.error({ reason: message }, 'the sandbox could not be made');
  };

  /** Throws `not_found` when the sandbox is off, and `unavailable` while there is none. */
  const open = async (waitMs = deps.waitMs ?? WAIT_MS): Promise<ExternalApi> => {
    if (!hasSandbox) throw new Failure('not_found', 'This server has no sandbox.');
    const day = toDay(toInstant(now()));
    // A clock may have been set back since it failed.
    const mayMake = Math.abs(now().getTime() - failedAt) > RETRY_MS;
    if (made?.day !== day && mayMake)
      making ??= make(day)
        .catch(fail)
        .finally(() => (making = undefined));
    if (made === undefined) await Promise.race([making, sleep(waitMs, undefined, { ref: false })]);
    if (made === undefined) throw new Failure('unavailable', 'The sandbox is not ready.');
    return made.api;
  };

  // What went wrong is logged once, when making fails, not for each request.
  const answerError = answerErrors(() => undefined);
  const listener = async (req: ApiRequest, res: ServerResponse, answer: Answer): Promise<void> => {
    req.isSandbox = true;
    req.url = req.url?.slice(SANDBOX_PATH.length);
    try {
      await service.shared.limitAddress(req);
      await answer(await open());
    } catch (error) {
      answerError(error, req, res);
    }
  };
  /** For a server that has nothing else. */
  const openFirst = () => open(MAKING.timeout);
  return { open, openFirst, listener, close: () => stopping.abort() };
}
