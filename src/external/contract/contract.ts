import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { type Context, OpenAPIBackend } from 'openapi-backend';
import { Failure } from '../../domain/failure.ts';
import type { KeyHolder } from '../../store/accounts/api-keys.ts';
import type { Reader } from '../../store/engine/reader.ts';
import {
  type Call,
  type Handler,
  handlers,
  type OperationId,
  type ServedAnswer,
} from '../operations/handlers.ts';
import { type ContractDocument, readContract } from './contract-document.ts';
import { toDeprecations } from './deprecation.ts';
import { toValidationFailure } from './parameters.ts';
import { parseQuery } from './query.ts';
import { type MatchableRequest, PreparedRouter } from './router.ts';
import { toShapes } from './shape.ts';

/** The `uuid` format of ajv-formats also accepts `urn:uuid:…`; the contract's does not (decision 1.3). */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Targets whose validation is remembered, so that a client that polls does not pay for it each time. Only valid
 * ones are, which openapi-backend has accepted: what it makes of a target depends on nothing else.
 */
const MAX_KNOWN = 1_000;
/** A target of all parameters is shorter. */
const MAX_TARGET_LENGTH = 300;

/** The parts of a request that the contract needs. */
export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  /** Everything after the `?`. */
  readonly search: string;
}

export type { ContractDocument };

export interface Contract {
  /** Finds the operation, validates the request and calls its handler. Throws `Failure`. */
  answer(request: PlainRequest, holder: KeyHolder): Promise<ServedAnswer>;
}

/**
 * The contract, served from a store; openapi/v1.yaml when none is given. Throws when a deprecation in it is
 * incomplete.
 */
export async function openContract(reader: Reader, given?: ContractDocument): Promise<Contract> {
  const document = given ?? (await readContract());
  // Keys are checked before this, in the order of decision 1.1.
  const definition: ContractDocument = { ...document, security: [] };
  const api = new OpenAPIBackend({
    definition,
    strict: true,
    // The document is not checked again at each start, which would take half of it: a test does so. The schemas
    // of an operation are compiled for its first request, and those of answers not at all.
    quick: true,
    ignoreTrailingSlashes: false,
    customizeAjv: createAjv,
    handlers: { ...toOperationHandlers(reader, document), ...refusals },
  });
  await api.init();
  const router = new PreparedRouter({ definition: api.definition });
  api.router = router;
  api.validator.router = router;
  const queryNames = toQueryNames(router.getOperations());
  const validate = (request: PlainRequest): Promise<ValidCall> =>
    api.handleRequest(toMatchable(request, queryNames));
  const known = new LRUCache<string, ValidCall>({ max: MAX_KNOWN });
  return {
    answer: async (request, holder) => {
      const target = `${request.path}?${request.search}`;
      const isGet = request.method === 'GET' && target.length <= MAX_TARGET_LENGTH;
      const kept = isGet ? known.get(target) : undefined;
      if (kept !== undefined) return await kept(holder);
      const call = await validate(request);
      if (isGet) known.set(target, call);
      return await call(holder);
    },
  };
}

/** A validated request, which can be answered for any caller. */
type ValidCall = (holder: KeyHolder) => Promise<ServedAnswer>;

function toMatchable({ method, path, search }: PlainRequest, queryNames: readonly string[]) {
  return {
    method: method === 'HEAD' ? 'GET' : method,
    path,
    params: {},
    query: parseQuery(search, queryNames) as MatchableRequest['query'],
    headers: {},
    cookies: {},
    requestBody: undefined,
  } satisfies MatchableRequest;
}

/**
 * openapi-backend would enable ajv's coercion. Here values already have their type (query.ts), and unknown
 * ones are dropped.
 */
function createAjv(): Ajv {
  const ajv = new Ajv({ strict: false, removeAdditional: true });
  addFormatsModule.default(ajv);
  ajv.addFormat('uuid', UUID);
  return ajv;
}

/** The operations by operationId. openapi-backend calls one when the request is valid. */
function toOperationHandlers(reader: Reader, document: ContractDocument) {
  const deprecations = toDeprecations(document.paths ?? {});
  const shapes = toShapes(document);
  const serve = <O extends OperationId>(operationId: O): ((context: Context) => ValidCall) => {
    const handler: Handler<O> = handlers[operationId];
    const served = {
      shape: shapes.get(operationId) as string,
      headers: deprecations.get(operationId) ?? [],
    };
    return ({ request }) =>
      async ({ accountId }) =>
        Object.assign(await handler(toCall<O>(request, accountId), { reader }), served);
  };
  const operationIds = Object.keys(handlers) as OperationId[];
  return Object.fromEntries(operationIds.map((operationId) => [operationId, serve(operationId)]));
}

/** openapi-backend has validated the parameters with the schemas that the types were generated from. */
function toCall<O extends OperationId>(request: Context['request'], accountId: string): Call<O> {
  const { params, query } = request as unknown as Pick<Call<O>, 'params' | 'query'>;
  return { accountId, params, query };
}

const refusals = {
  notFound: () => {
    throw new Failure('not_found', 'No such path.');
  },
  methodNotAllowed: () => {
    throw new Failure('method_not_allowed', 'This path answers only to GET and HEAD.');
  },
  validationFail: ({ operation, validation }: Context) => {
    throw toValidationFailure(operation, validation.errors ?? []);
  },
};

function toQueryNames(operations: readonly { parameters?: unknown }[]): string[] {
  const parameters = operations.flatMap(
    (operation) => operation.parameters as { in: string; name: string }[],
  );
  return [...new Set(parameters.filter((p) => p.in === 'query').map((p) => p.name))];
}
