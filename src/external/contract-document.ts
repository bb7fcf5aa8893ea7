import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Document } from 'openapi-backend';
import type { OperationId } from './operation.ts';
import type { Parameter } from './parameters.ts';

/** The contract as it was written: openapi/v1.yaml. */
export type ContractDocument = Document;

/** Reads the contract. The package has it as JSON, because reading YAML takes longer than the rest of the start. */
export async function readContract(): Promise<ContractDocument> {
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
  if (!import.meta.url.endsWith('.ts')) return JSON.parse(await read('../v1.json'));
  const { parse } = await import('yaml');
  return parse(await read('../../openapi/v1.yaml'));
}

/** An operation as the contract declares it, with references resolved. */
export interface DeclaredOperation {
  readonly operationId: OperationId;
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
  /** All three, or none. */
  readonly deprecated?: boolean;
  readonly 'x-deprecated-at'?: unknown;
  readonly 'x-sunset'?: unknown;
}

/** Keywords without an effect on what is sent. */
const SILENT = new Set(['description', 'title', 'example', 'examples', 'externalDocs', 'links']);
const SHAPE_LENGTH = 8;

/**
 * A version of the schema of an operation's 200, part of every entity tag: a client with a tag of an older release
 * gets the fields that the new one added. A change of descriptions alone does not change it.
 */
export function hashShape({ responses }: DeclaredOperation): string {
  const shape = JSON.stringify(toShape(responses['200']));
  return hash('sha256', shape, 'base64url').slice(0, SHAPE_LENGTH);
}

/** `isNames` where the keys are names defined by the contract, not keywords: a field may be called `title`. */
function toShape(node: unknown, isNames = false): unknown {
  if (Array.isArray(node)) return node.map((item) => toShape(item));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node)
    .filter(([key]) => isNames || !SILENT.has(key))
    .map(([key, value]) => [key, toShape(value, !isNames && key === 'properties')]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** The shortest time from the announcement of a deprecation to its sunset (v1.yaml, Versions). */
const MIN_MONTHS = 6;
/** Mock servers send every header that is declared. So only a deprecated operation declares `Deprecation` and `Sunset`. */
const STATUSES = ['200', '304'];

/**
 * The headers of a deprecated operation, names and values alternating: `Deprecation` (RFC 9745, a structured date)
 * and `Sunset` (RFC 8594, an HTTP-date). Throws when a field or the declaration of a header is missing.
 */
export function toDeprecationHeaders(operation: DeclaredOperation): readonly string[] {
  const { operationId, responses, deprecated, ...fields } = operation;
  const fail = (wrong: string): never => {
    throw new Error(`The operation ${operationId} of the contract ${wrong}.`);
  };
  if (![deprecated, fields['x-deprecated-at'], fields['x-sunset']].some(Boolean)) return [];
  const since = parseDay(fields['x-deprecated-at']);
  const sunset = parseDay(fields['x-sunset']);
  if (!deprecated || since === undefined || sunset === undefined)
    return fail('needs deprecated: true, and days for x-deprecated-at and x-sunset');
  if (sunset < addMonths(since, MIN_MONTHS))
    return fail(`has its x-sunset less than ${MIN_MONTHS} months after x-deprecated-at`);
  const isDeclared = STATUSES.every((status) => {
    const { headers = {} } = responses[status] ?? {};
    return 'Deprecation' in headers && 'Sunset' in headers;
  });
  if (!isDeclared) return fail('needs the headers Deprecation and Sunset in its 200 and its 304');
  return ['Deprecation', `@${since.getTime() / 1000}`, 'Sunset', sunset.toUTCString()];
}

/** A day that the calendar has; JavaScript takes 30 February for 2 March. */
function parseDay(day: unknown): Date | undefined {
  if (typeof day !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
  const date = new Date(`${day}T00:00:00Z`);
  const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
  return isReal ? date : undefined;
}

function addMonths(date: Date, months: number): Date {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate()));
}
