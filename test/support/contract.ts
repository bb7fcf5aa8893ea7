/**
 * Checks answers against openapi/v1.yaml. openapi-backend ignores statuses, fields and headers that are not
 * declared, so every answer is checked here.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import {
  components,
  findOperation,
  operations,
  type Response,
  type Responses,
  type Schema,
  webhooks,
} from './contract-document.ts';

export interface Exchange {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Answers without an operation: an unknown path, or a method that no path has. */
const OUTSIDE: Responses = {
  401: components.responses['Unauthorized'] as Response,
  404: components.responses['NotFound'] as Response,
  405: components.responses['MethodNotAllowed'] as Response,
  429: components.responses['RateLimited'] as Response,
  500: components.responses['InternalError'] as Response,
  503: components.responses['Unavailable'] as Response,
};

/** Headers that any HTTP answer may have, and helmet's. Every other header has to be declared. */
const ANY_ANSWER =
  /^(date|connection|keep-alive|transfer-encoding|content-.*|cross-origin-(opener|resource)-policy|origin-agent-cluster|referrer-policy|strict-transport-security|x-content-type-options|x-dns-prefetch-control|x-download-options|x-frame-options|x-permitted-cross-domain-policies|x-xss-protection)$/;

/** Throws when an answer under `/v1/external` has anything that the contract does not declare. */
export function holdToContract(exchange: Exchange): void {
  const { method, path, status, body } = exchange;
  const response = toResponses(method, path)[status];
  const wrong =
    response === undefined
      ? 'a status that is not declared'
      : (findWrongHeader(exchange, response) ?? findWrongBody(exchange, response));
  if (wrong !== undefined) {
    throw new Error(`${method} ${path} → ${status}: ${wrong}\n${body.slice(0, 500)}`);
  }
}

/** Throws when a body is not the API's error body, whatever the status. */
export function holdToErrorShape(body: string): void {
  const schema = components.responses['NotFound']?.content?.['application/json']?.schema as Schema;
  const wrong = findWrong(schema, parseJson(body));
  if (wrong !== undefined) throw new Error(`not an error body: ${wrong}\n${body.slice(0, 500)}`);
}

/** Throws when a delivery in the standard format is not what the contract describes for its type. */
export function holdToWebhook({ headers, body }: Pick<Exchange, 'headers' | 'body'>): void {
  const type = (parseJson(body) as { type?: string } | undefined)?.type ?? '';
  const { parameters = [], requestBody } = webhooks.get(type) ?? {};
  const wrongHeader = parameters.find(({ name, schema }) => {
    const value = headers[name];
    return findWrong(schema, schema['type'] === 'integer' ? Number(value) : value) !== undefined;
  });
  const wrong =
    requestBody === undefined
      ? 'an event that is not declared'
      : (wrongHeader?.name ?? findWrongBody({ method: 'POST', headers, body }, requestBody));
  if (wrong !== undefined) throw new Error(`webhook ${type}: ${wrong}\n${body.slice(0, 500)}`);
}

/** Every example of a body in the contract: its place, and its error, if any. */
export function listExamples() {
  const owners: [string, Responses][] = [
    ['components', components.responses],
    ...operations.map((operation): [string, Responses] => [
      operation.operationId,
      operation.responses,
    ]),
    ...[...webhooks].map(([type, { requestBody }]): [string, Responses] => [
      type,
      { sent: requestBody },
    ]),
  ];
  return owners.flatMap(([owner, responses]) =>
    Object.entries(responses).flatMap(([status, { content }]) => {
      const { schema = {}, examples = {} } = content?.['application/json'] ?? {};
      return Object.entries(examples).map(([name, { value }]) => ({
        where: `${owner} ${status} ${name}`,
        value,
        wrong: findWrong(schema, value),
      }));
    }),
  );
}

function toResponses(method: string, path: string): Responses {
  const operation = findOperation(path);
  if (operation === undefined) return { ...OUTSIDE, 405: undefined } as unknown as Responses;
  return method === 'GET' || method === 'HEAD' ? operation.responses : OUTSIDE;
}

function findWrongHeader({ headers }: Exchange, { headers: declared = {} }: Response) {
  for (const [name, { required, schema }] of Object.entries(declared)) {
    const value = headers[name.toLowerCase()];
    if (value === undefined && !required) continue;
    const wrong = findWrong(schema, schema['type'] === 'integer' ? Number(value) : value);
    if (wrong !== undefined) return `${name}: ${value === undefined ? 'missing' : wrong}`;
  }
  const names = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
  const undeclared = Object.keys(headers).find(
    (name) => !ANY_ANSWER.test(name) && !names.has(name),
  );
  return undeclared && `${undeclared} is not declared`;
}

function findWrongBody(
  { method, headers, body }: Omit<Exchange, 'path' | 'status'>,
  { content }: Response,
) {
  const isBodiless = method === 'HEAD' || content === undefined;
  if (isBodiless) return body === '' ? undefined : 'a body where none is allowed';
  const type = headers['content-type'] ?? 'none';
  const media = content[type];
  return media ? findWrong(media.schema, parseJson(body)) : `media type ${type} is not declared`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Why a value does not match a schema of the contract, or has fields that the schema does not have. */
export function findWrong(schema: Schema, value: unknown): string | undefined {
  const validate = toValidate(schema);
  if (validate(value)) return undefined;
  return ajv.errorsText(validate.errors, { dataVar: 'value' });
}

const ajv = new Ajv({ strict: true, strictTypes: false });
addFormatsModule.default(ajv);
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
// UTC, whole seconds, `Z` (v1.yaml, Time).
ajv.addFormat('date-time', {
  validate: (text: string) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) &&
    new Date(text).toISOString() === text.replace('Z', '.000Z'),
});
ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger });
ajv.addVocabulary(['example', 'x-go-type', 'x-extensible-enum']);
ajv.addKeyword({
  keyword: 'x-max-length',
  type: 'string',
  validate: (most: number, text: string) => [...text].length <= most,
});
// An alert's context is checked against the schema of the alert's type, which is a field beside it.
ajv.addKeyword({
  keyword: 'x-schema-by-type',
  compile: (schemas: Readonly<Record<string, Schema>>) => {
    const validates = Object.entries(schemas).map(([type, schema]) => [type, ajv.compile(schema)]);
    const byType: Readonly<Record<string, ValidateFunction>> = Object.fromEntries(validates);
    return (context: unknown, at) => byType[at?.parentData?.['type']]?.(context) ?? true;
  },
});

const compiled = new Map<Schema, ValidateFunction>();
function toValidate(schema: Schema): ValidateFunction {
  const known = compiled.get(schema) ?? ajv.compile(toClosed(schema) as Schema);
  compiled.set(schema, known);
  return known;
}

/**
 * OpenAPI 3.0 as JSON Schema: objects are closed unless the contract opens them, and `nullable` becomes a
 * type.
 */
function toClosed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toClosed);
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...schema } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, key === 'example' ? value : toClosed(value)]),
  );
  // Without a type, null fits already.
  if (nullable === true && 'type' in schema) schema['type'] = [schema['type'], 'null'];
  const isObject = schema['type'] === 'object';
  return isObject ? { additionalProperties: false, ...schema } : schema;
}
