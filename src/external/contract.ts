import type { IncomingMessage } from 'node:http';
import { Ajv, type ErrorObject } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { OpenAPIBackend } from 'openapi-backend';
import { Failure } from '../domain/failure.ts';
import { isUuid } from '../domain/uuid.ts';
import {
  type ContractDocument,
  type DeclaredOperation,
  hashShape,
  toDeprecationHeaders,
} from './contract-document.ts';
import {
  describeValue,
  type Pairs,
  type Parameters,
  parseQuery,
  toParameterName,
  toValues,
} from './parameters.ts';

/** Valid paths whose operation is remembered. openapi-backend takes 45 µs to find one, as much as a whole 304. */
const MAX_PATHS = 1_000;

export interface Operation extends DeclaredOperation {
  /** The version of the answer's schema; part of the entity tag. */
  readonly shape: string;
  /** Headers in addition to those of every list, names and values alternating. */
  readonly headers: readonly string[];
}

/** The handler and the cached page's key have the same parameters, so that none can be missing in one of the two. */
export interface ValidRequest {
  readonly operation: Operation;
  readonly parameters: Parameters;
}

interface Route {
  readonly operation: Operation;
  readonly path: Parameters['path'];
}

export type Contract = Awaited<ReturnType<typeof openContract>>;

/**
 * `validate` finds a request's operation and validates its parameters, or throws `Failure`. openapi-backend compiles the
 * schemas. Its `handleRequest` would take 66 µs: here the operation of a path is remembered, and compiled
 * schemas are called directly.
 */
export async function openContract(definition: ContractDocument) {
  const api = new OpenAPIBackend({
    definition,
    strict: true,
    // The document is not checked again at each start, which would take half of it: a test does so. The schemas
    // of an operation are compiled for its first request, and those of answers not at all.
    quick: true,
    ignoreTrailingSlashes: false,
    customizeAjv: createAjv,
  });
  await api.init();
  const operations = (api.getOperations() as unknown as DeclaredOperation[]).map(toOperation);
  const names = new Set(operations.flatMap(listQueryNames));
  const routes = new LRUCache<string, Route>({ max: MAX_PATHS });

  const check = (operation: Operation, parameters: Parameters): ValidRequest => {
    const validators = api.validator.getRequestValidatorsForOperation(operation.operationId) ?? [];
    for (const validate of validators)
      if (!validate(parameters)) throw toFailure(operation, validate.errors);
    return { operation, parameters };
  };

  const validate = ({ method, url = '' }: IncomingMessage): ValidRequest => {
    const [path = ''] = url.split('?', 1);
    const known = routes.get(path);
    const route = known ?? findRoute(api, operations, path);
    if (method !== 'GET' && method !== 'HEAD')
      throw new Failure('method_not_allowed', 'This path answers only to GET and HEAD.');
    const { operation } = route;
    const pairs = parseQuery(url.slice(path.length + 1));
    const query = toValues('query', pairs, operation.parameters);
    const request = check(operation, { path: route.path, query });
    refuseOthers(pairs, operation, names);
    if (known === undefined) routes.set(path, route);
    return request;
  };

  /** The request for an operation with named values instead of a path and a query. */
  const toRequest = (operation: Operation, values: Record<string, unknown>): ValidRequest => {
    const pairs = toPairs(operation, values);
    const valuesIn = (place: 'path' | 'query') => toValues(place, pairs, operation.parameters);
    return check(operation, { path: valuesIn('path'), query: valuesIn('query') });
  };
  return { version: definition.info.version, operations, validate, toRequest };
}

/** As texts. Nobody has named values of a later contract: each is one of the operation, and of its type. */
function toPairs(operation: Operation, values: Readonly<Record<string, unknown>>): Pairs {
  return Object.entries(values).map(([name, value]) => {
    const type = operation.parameters.find((one) => one.name === name && one.in !== 'header')
      ?.schema.type;
    if (typeof value !== (type === 'integer' ? 'number' : type)) throw toInvalid(operation, name);
    return [name, `${value}`];
  });
}

const listQueryNames = ({ parameters }: Operation): string[] =>
  parameters.filter((one) => one.in === 'query').map(({ name }) => name);

/**
 * A parameter that only other operations have is a mistake: ignored, the answer would be data that the caller has not asked
 * for. A name that no operation has may be one of a later contract, and is ignored.
 */
function refuseOthers(pairs: Pairs, operation: Operation, names: ReadonlySet<string>): void {
  if (pairs.length === 0) return;
  const own = listQueryNames(operation);
  for (const [key] of pairs) {
    const name = toParameterName(key);
    if (names.has(name) && !own.includes(name))
      throw new Failure('validation_error', `"${name}" is no parameter of this operation.`);
  }
}

/** openapi-backend would enable Ajv's coercion. Here values have their type already (parameters.ts). */
function createAjv(): Ajv {
  const ajv = new Ajv({ strict: false });
  addFormatsModule.default(ajv);
  // The format of ajv-formats also accepts `urn:uuid:…`; the contract's does not.
  ajv.addFormat('uuid', isUuid);
  return ajv;
}

function toOperation(declared: DeclaredOperation): Operation {
  // Throws for a parameter of a type that is not read yet.
  declared.parameters.forEach(describeValue);
  return { ...declared, shape: hashShape(declared), headers: toDeprecationHeaders(declared) };
}

/** All operations are GET. */
function findRoute(api: OpenAPIBackend, operations: readonly Operation[], path: string): Route {
  const request = { method: 'GET', path, headers: {} };
  const found = api.matchOperation(request);
  const operation = operations.find(({ operationId }) => operationId === found?.operationId);
  if (operation === undefined) throw new Failure('not_found', 'No such path.');
  let texts: Readonly<Record<string, string>> = {};
  try {
    texts = api.router.parseRequest(request, found).params;
  } catch {
    // No valid percent-encoding: the parameters stay missing, which is not valid.
  }
  return { operation, path: toValues('path', Object.entries(texts), operation.parameters) };
}

function toFailure(operation: Operation, errors?: readonly ErrorObject[] | null): Failure {
  const error = errors?.[0];
  // A JSON pointer into the parameters: /query/limit; to the object when a parameter is missing.
  const [, , name = error?.params['missingProperty']] = error?.instancePath.split('/') ?? [];
  return toInvalid(operation, name);
}

/** The error of a parameter, by its name: it says what the contract allows. */
export function toInvalid({ parameters }: Pick<Operation, 'parameters'>, name: string): Failure {
  const parameter = parameters.find((one) => one.name === name && one.in !== 'header');
  const problem =
    parameter === undefined
      ? 'is no parameter of this operation'
      : `must be ${describeValue(parameter)}, given once`;
  return new Failure('validation_error', `"${name}" ${problem}.`);
}
