import { execFile } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { Failure } from '../domain/failure.ts';
import { type Day, toDay, toInstant } from '../domain/instant.ts';
import { SANDBOX_PATH } from '../domain/sandbox.ts';
import {
  type ApiDeps,
  type CommonApi,
  createExternalApi,
  type ExternalApi,
} from '../external/api.ts';
import { answerErrors } from '../external/errors.ts';
import type { ApiRequest } from '../external/request.ts';
import { toCacheEnv } from '../intake/parser/parser-process.ts';
import { createDaysReads } from '../store/days/reads.ts';
import type { Store } from '../store/engine/store.ts';

const PROGRAM = fileURLToPath(new URL('../demo/sandbox-process.ts', import.meta.url));
/** Making the data takes some two seconds of CPU. */
const MAKE_TIMEOUT_MS = 120_000;
/** The database has 2 MB. */
const MAX_BYTES = 32 * 1024 * 1024;
/** How long a request waits for the data to be made. */
const WAIT_MS = 20_000;
const RETRY_MS = 30_000;
/** No request reads the former data for so long. */
const CLOSE_AFTER_MS = 60_000;
const PAGE_CACHE_BYTES = 1024 * 1024;

export type Sandbox = ReturnType<typeof createSandbox>;

type SandboxConfig = Partial<Config> &
  Pick<Config, 'requestsPerIp' | 'requestsPerKey' | 'pageCacheBytes'>;

interface SandboxDeps extends Omit<ApiDeps, 'store' | 'days' | keyof SandboxConfig> {
  readonly log: Logger;
}

/**
 * The sandbox of a server: the API over made-up data in memory. A process of its own makes the data for the first request, and
 * for the first one of each further day, because it ends with yesterday: until then the former answers.
 */
export function createSandbox(config: SandboxConfig, common: CommonApi, deps: SandboxDeps) {
  const { now, log, readVersion } = deps;
  let made: { readonly day: Day; readonly api: ExternalApi; readonly store: Store } | undefined;
  let making: Promise<void> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const stopping = new AbortController();

  const make = async (day: Day): Promise<void> => {
    const bytes = await makeBytes([day, readVersion()], stopping.signal);
    const { openSqliteBytes } = await import('../store/engine/sqlite/open.ts');
    const store = openSqliteBytes(bytes);
    const former = made?.store;
    made = { day, store, api: await openApi(store, new Date(day)) };
    if (former) setTimeout(() => void former.close(), CLOSE_AFTER_MS).unref();
  };

  /** What it answers depends on the day alone, so that all servers answer the same. It tells no address of the service's. */
  const openApi = async (store: Store, today: Date): Promise<ExternalApi> => {
    const clock = { now: () => today, logError: deps.logError };
    const { requestsPerIp, requestsPerKey } = config;
    const pageCacheBytes = Math.min(config.pageCacheBytes, PAGE_CACHE_BYTES);
    const limits = { requestsPerIp, requestsPerKey, pageCacheBytes };
    const own = { ...limits, ...clock, store, days: createDaysReads(store, clock) };
    return await createExternalApi({ ...deps, ...own, common });
  };

  const fail = ({ message }: Error): void => {
    failedAt = now().getTime();
    if (!stopping.signal.aborted) log.error({ reason: message }, 'the sandbox could not be made');
  };

  /** Throws `not_found` when the sandbox is off, and `unavailable` while there is none. */
  const open = async (): Promise<ExternalApi> => {
    if (config.hasSandbox === false) throw new Failure('not_found', 'This server has no sandbox.');
    const day = toDay(toInstant(now()));
    // A clock may have been set back since it failed.
    const mayMake = Math.abs(now().getTime() - failedAt) > RETRY_MS;
    if (made?.day !== day && mayMake)
      making ??= make(day)
        .catch(fail)
        .finally(() => (making = undefined));
    if (made === undefined) await Promise.race([making, sleep(WAIT_MS, undefined, { ref: false })]);
    if (made === undefined) throw new Failure('unavailable', 'The sandbox is not ready.');
    return made.api;
  };

  // What went wrong is logged once, when making fails, not for each request.
  const answerError = answerErrors(() => undefined);
  /** Answers the API's paths below `/sandbox`. */
  const listener = async (req: ApiRequest, res: ServerResponse): Promise<void> => {
    req.isSandbox = true;
    req.url = req.url?.slice(SANDBOX_PATH.length);
    try {
      await common.limitAddress(req);
      await (await open()).listener(req, res);
    } catch (error) {
      answerError(error, req, res);
    }
  };

  const close = async (): Promise<void> => {
    stopping.abort();
    await making;
    await made?.api.flush();
    await made?.store.close();
  };
  return { open, listener, close };
}

/** The process gets no secret of this one, and ends when it takes too long. */
async function makeBytes(
  given: readonly [day: Day, release: string],
  signal: AbortSignal,
): Promise<Buffer> {
  const options = {
    encoding: 'buffer',
    env: toCacheEnv(),
    maxBuffer: MAX_BYTES,
    timeout: MAKE_TIMEOUT_MS,
    signal,
  } as const;
  const args = ['--disable-warning=ExperimentalWarning', PROGRAM, ...given];
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
}
