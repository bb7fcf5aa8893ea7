import { type RequestHandler, Router } from 'express';
import type { Store } from '../store/connection/open.ts';
import { authenticate, keyHolderOf } from './authenticate.ts';
import { type Contract, type ContractDocument, openContract } from './contract/contract.ts';
import { createLastUsed } from './last-used.ts';
import { limitPerAddress, limitPerKey } from './limits.ts';
import { createPages } from './operations/pages.ts';

interface Given {
  readonly store: Store;
  readonly requestsPerIp: number;
  readonly requestsPerKey: number;
  readonly pageCacheBytes: number;
  readonly now: () => Date;
  readonly logError: (error: unknown) => void;
  /** openapi/v1.yaml when none is given. */
  readonly document?: ContractDocument | undefined;
}

/** Everything under `/v1/external`. The middleware has the contract's order of checks (decision 1.1). */
export async function createExternalApi({
  store,
  requestsPerIp,
  requestsPerKey,
  pageCacheBytes,
  now,
  logError,
  document,
}: Given) {
  const contract = await openContract(store.reader, document);
  const lastUsed = createLastUsed({ db: store.db, now, logError });
  const router = Router().use(
    limitPerAddress(requestsPerIp),
    authenticate({ reader: store.reader, onUse: lastUsed.record }),
    limitPerKey(requestsPerKey),
    serve(contract, pageCacheBytes),
  );
  return { router, flush: lastUsed.flush };
}

function serve(contract: Contract, pageCacheBytes: number): RequestHandler {
  const sendList = createPages(pageCacheBytes);
  return async (req, res) => {
    const query = req.url.indexOf('?');
    const request = {
      method: req.method,
      path: req.baseUrl + req.path,
      search: query === -1 ? '' : req.url.slice(query + 1),
    };
    await sendList(req, res, await contract.answer(request, keyHolderOf(res)));
  };
}
