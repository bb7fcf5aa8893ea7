import type { ServerResponse } from 'node:http';
import type { Store } from '../store/engine/store.ts';
import { createAuthentication } from './authenticate.ts';
import { openContract } from './contract.ts';
import type { ContractDocument } from './contract-document.ts';
import { answerErrors } from './errors.ts';
import { type CreateStore, limitPerAddress, limitPerKey } from './limits.ts';
import { openAnswer } from './lists.ts';
import type { Given } from './operation.ts';
import { createPages } from './pages.ts';
import type { ApiRequest } from './request.ts';

interface ApiDeps extends Pick<Given, 'now' | 'networks' | 'services' | 'days'> {
  readonly store: Store;
  readonly requestsPerIp: number;
  readonly requestsPerKey: number;
  readonly pageCacheBytes: number;
  readonly logError: (error: unknown, req?: { id: string }) => void;
  /** openapi/v1.yaml when none is given. */
  readonly document?: ContractDocument | undefined;
  readonly createStore?: CreateStore | undefined;
}

/** Answers `/v1/external` with node's own request and response: it needs nothing of Express's (decision 61). */
export async function createExternalApi(deps: ApiDeps) {
  const { store, requestsPerIp, requestsPerKey, createStore, logError } = deps;
  const limitAddress = limitPerAddress(requestsPerIp, createStore);
  const { authenticate, flush } = createAuthentication(deps);
  const limitKey = limitPerKey(requestsPerKey, createStore);
  const validate = await openContract(deps.document);
  const { sendList, measurePages } = createPages(deps.pageCacheBytes);
  const answerError = answerErrors(logError);
  const { now, networks, services, days } = deps;
  const given = { now, networks, services, days };

  /** The checks in their order: flood, key, limit of the key, path and method, parameters, domain. */
  const listener = async (req: ApiRequest, res: ServerResponse): Promise<void> => {
    try {
      await limitAddress(req);
      const { accountId, keyId } = await authenticate(req);
      req.accountId = accountId;
      await limitKey(req, keyId);
      const request = validate(req);
      req.operation = request.operation.operationId;
      const list = await openAnswer(store.reader, request, { accountId, given });
      await sendList(req, res, { request, list });
    } catch (error) {
      if (!answerError(error, req, res)) res.destroy();
    }
  };
  return { listener, flush, measurePages };
}
