import type { ServerResponse } from 'node:http';
import { toClientNetwork } from '../domain/client-address.ts';
import { listReportAddresses, type ReportAddresses } from '../store/accounts/mail-address.ts';
import type { Store } from '../store/engine/store.ts';
import { createAuthentication } from './authenticate.ts';
import { type Contract, openContract, type ValidRequest } from './contract.ts';
import { readContract } from './contract-document.ts';
import { answerErrors, describeErrors } from './errors.ts';
import { type CreateStore, limitPerAddress, limitPerKey } from './limits.ts';
import { openAnswer } from './lists.ts';
import type { Given } from './operation.ts';
import { createPages } from './pages.ts';
import type { ApiRequest } from './request.ts';

export interface ApiDeps extends Pick<Given, 'now' | 'networks' | 'days'>, ReportAddresses {
  readonly store: Store;
  readonly services: { readonly findVersion: () => Promise<string> };
  readonly kept?: { readonly reportsDays: number | undefined } | undefined;
  /** Of the service. */
  readonly readVersion: () => string;
  readonly requestsPerIp: number;
  readonly requestsPerKey: number;
  readonly pageCacheBytes: number;
  readonly logError: (error: unknown, req?: { id: string }) => void;
  /** openapi/v1.yaml when none is given. */
  readonly contract?: Contract | undefined;
  readonly createStore?: CreateStore | undefined;
  /** Of the service, for its sandbox. */
  readonly shared?: {
    readonly limitAddress: ReturnType<typeof limitPerAddress>;
  };
}

export type ExternalApi = Awaited<ReturnType<typeof createExternalApi>>;

/** Answers `/v1/external` with node's own request and response: it needs nothing of Express's (decision 61). */
export async function createExternalApi(deps: ApiDeps) {
  const { store, requestsPerIp, requestsPerKey, createStore, logError, shared } = deps;
  const limitAddress = shared?.limitAddress ?? limitPerAddress(requestsPerIp, createStore);
  const { authenticate, flush } = createAuthentication(deps, shared ? 'test' : 'live');
  const limitKey = limitPerKey(requestsPerKey, createStore, shared && 'sandbox');
  const contract = deps.contract ?? (await openContract(await readContract()));
  const { operations, validate, toRequest } = contract;
  const { sendList, readList, measurePages } = createPages(deps.pageCacheBytes);
  const answerError = answerErrors(logError);
  const given = toGiven(deps, contract);

  const admit = async (req: ApiRequest, reader = store.reader) => {
    // The sandbox counts a request before it waits for its data.
    if (req.ipLimit === undefined) await limitAddress(req);
    const { accountId, keyId } = await authenticate(req, reader);
    req.accountId = accountId;
    // Everybody has the key of the sandbox: there each address has the limit of a key for itself.
    await limitKey(req, shared ? toClientNetwork(req.ip ?? '') : keyId);
    return (request: ValidRequest) => openAnswer(reader, request, { accountId, keyId, given });
  };

  /** The checks in their order: flood, key, limit of the key, path and method, parameters, domain. */
  const listener = async (req: ApiRequest, res: ServerResponse): Promise<void> => {
    try {
      const open = await admit(req, store.reader.forRequest?.());
      const request = validate(req);
      req.operation = request.operation.operationId;
      await sendList(req, res, { request, list: await open(request) });
    } catch (error) {
      if (!answerError(error, req, res)) res.destroy();
    }
  };

  const describeError = describeErrors(logError);
  const agents = { operations, admit, toRequest, readList, answerError, describeError };
  return { listener, agents, flush, measurePages, contract, shared: { limitAddress } };
}

/** For callers that name an operation and its values, without HTTP. */
export type Agents = ExternalApi['agents'];

function toGiven(deps: ApiDeps, { version }: Contract): Given {
  const { now, networks, days, services, store } = deps;
  const findAddress = async (accountId: string) =>
    (await listReportAddresses(store.db, accountId, deps))[0];
  const limits = { key_per_minute: deps.requestsPerKey, ip_per_minute: deps.requestsPerIp };
  const versions = () => ({ service: deps.readVersion(), contract: version });
  return {
    ...{ now, networks, days, findAddress },
    findKnown: async () => [await services.findVersion(), networks?.findVersion()],
    about: () => ({ limits, retention_days: deps.kept?.reportsDays ?? null, versions: versions() }),
  };
}
