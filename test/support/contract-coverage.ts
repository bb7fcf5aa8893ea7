/**
 * Which parts of openapi/v1.yaml the tests exercise. Each answer is recorded in a folder that
 * vitest.config.ts creates for each run, because tests run in many processes. The records are read after all
 * other tests.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from './contract.ts';
import { findOperation, type Operation, operations, type Response } from './contract-document.ts';

const { CONTRACT_COVERAGE: folder } = process.env;
const OWN_FILE = randomUUID();

/** The kinds of parts that are counted. A code is one in the examples of an error. */
export const KINDS = ['operation', 'parameter', 'status', 'header', 'code'] as const;
type Kind = (typeof KINDS)[number];
/** For example `header listDomains 200 ETag`. */
type Item = `${Kind} ${string}`;

const noted = new Set<Item>();

/** Records what a checked answer exercised. */
export function noteExercised(exchange: Exchange, sent: Readonly<Record<string, string>> = {}) {
  const operation = findOperation(exchange.path);
  if (folder === undefined || operation === undefined) return;
  const items = toExercised(operation, exchange, sent).filter((item) => !noted.has(item));
  for (const item of items) noted.add(item);
  appendFileSync(join(folder, OWN_FILE), items.map((item) => `${item}\n`).join(''));
}

/** Everything that was recorded in this run. */
export function readExercised(): ReadonlySet<string> {
  const files = folder === undefined ? [] : readdirSync(folder).map((name) => join(folder, name));
  return new Set(files.flatMap((file) => readFileSync(file, 'utf8').split('\n')).filter(Boolean));
}

/** Every part of the contract. */
export function listDocumented(): Item[] {
  return operations.flatMap((operation) => {
    const { operationId, parameters, responses } = operation;
    return [
      `operation ${operationId}` as const,
      ...parameters.map((parameter) => toParameterItem(operation, parameter)),
      ...Object.entries(responses).flatMap(([status, response]): Item[] => [
        `status ${operationId} ${status}`,
        ...Object.keys(response.headers ?? {}).map(
          (name) => `header ${operationId} ${status} ${name}` as const,
        ),
        ...listCodes(response).map((code) => `code ${operationId} ${status} ${code}` as const),
      ]),
    ];
  });
}

function toExercised(
  operation: Operation,
  { method, path, status, headers, body }: Exchange,
  sent: Readonly<Record<string, string>>,
): Item[] {
  const { operationId, parameters, responses } = operation;
  // An answer to another method counts for the operation only when its status is 405.
  if (method !== 'GET' && method !== 'HEAD' && status !== 405) return [];
  const present = Object.keys(responses[status]?.headers ?? {}).filter(
    (name) => headers[name.toLowerCase()] !== undefined,
  );
  const code = status < 400 || body === '' ? undefined : JSON.parse(body).error.code;
  const items: Item[] = [
    `status ${operationId} ${status}`,
    ...present.map((name) => `header ${operationId} ${status} ${name}` as const),
    `code ${operationId} ${status} ${code}`,
  ];
  // Only a successful answer shows that the operation has read its parameters.
  if (status >= 400) return items;
  const taken = parameters.filter((parameter) => isSent(parameter, path, sent));
  return [
    `operation ${operationId}`,
    ...taken.map((parameter) => toParameterItem(operation, parameter)),
    ...items,
  ];
}

type Parameter = Pick<Operation['parameters'][number], 'in' | 'name'>;

function isSent(
  { in: place, name }: Parameter,
  path: string,
  sent: Readonly<Record<string, string>>,
): boolean {
  if (place === 'path') return true;
  if (place === 'query') return new URLSearchParams(path.split('?')[1]).has(name);
  return Object.keys(sent).some((header) => header.toLowerCase() === name.toLowerCase());
}

function toParameterItem({ operationId }: Operation, { in: place, name }: Parameter): Item {
  return `parameter ${operationId} ${place} ${name}`;
}

function listCodes({ content }: Response): string[] {
  const examples = Object.values(content?.['application/json']?.examples ?? {});
  const codes = examples.map(({ value }) => (value as { error?: { code: string } }).error?.code);
  return [...new Set(codes.filter((code) => code !== undefined))];
}
