import type { ServerResponse } from 'node:http';
import type { KeyHolder } from '../store/accounts/api-keys.ts';
import type { Store } from '../store/engine/open.ts';
import { authenticate } from './authenticate.ts';
import {
  type Contract,
  type ContractDocument,
  openContract,
  type PlainRequest,
} from './contract/contract.ts';
import { answerErrors } from './errors.ts';
import { createLastUsed } from './last-used.ts';
import { type CreateStore, limitPerAddress, limitPerKey } from './limits.ts';
import { createPages } from './operations/pages.ts';
import type { ApiRequest } from './request.ts';

interface Given {
  readonly store: Store;
  readonly requestsPerIp: number;
  readonly requestsPerKey: number;
  readonly pageCacheBytes: number;
  readonly now: () => Date;
  readonly logError: (error: unknown, req?: { id: string }) => void;
  /** openapi/v1.yaml when none is given. */
  readonly document?: ContractDocument | undefined;
  readonly createStore?: CreateStore | undefined;
}

/**
 * Answers everything under `/v1/external`, with the checks in the contract's order (decision 1.1). It takes
 * node's own request and response, because it needs nothing of Express's.
 */
export async function createExternalApi(given: Given) {
  const { store, now, logError } = given;
  const lastUsed = createLastUsed({ db: store.db, now, logError });
  const answer = createAnswer(given, {
    contract: await openContract(store.reader, given.document),
    onUse: lastUsed.record,
  });
  const answerError = answerErrors(logError);
  const listener = async (req: ApiRequest, res: ServerResponse): Promise<void> => {
    try {
      await answer(req, res);
    } catch (error) {
      if (!answerError(error, req, res)) res.destroy();
    }
  };
  return { listener, flush: lastUsed.flush };
}

function createAnswer(
  { store, requestsPerIp, requestsPerKey, pageCacheBytes, createStore, now }: Given,
  { contract, onUse }: { contract: Contract; onUse: (holder: KeyHolder) => void },
) {
  const limitAddress = limitPerAddress(requestsPerIp, createStore);
  const limitKey = limitPerKey(requestsPerKey, createStore);
  const sendList = createPages(pageCacheBytes);
  return async (req: ApiRequest, res: ServerResponse): Promise<void> => {
    await limitAddress(req);
    const holder = await authenticate(req, { reader: store.reader, now });
    req.keyHolder = holder;
    onUse(holder);
    await limitKey(req);
    await sendList(req, res, await contract.answer(toPlain(req), holder));
  };
}

function toPlain({ method = '', url = '' }: ApiRequest): PlainRequest {
  const query = url.indexOf('?');
  if (query === -1) return { method, path: url, search: '' };
  return { method, path: url.slice(0, query), search: url.slice(query + 1) };
}
