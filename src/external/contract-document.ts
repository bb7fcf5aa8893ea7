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
  readonly summary?: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, { headers?: object; content?: Content }>>;
  /** All three, or none. */
  readonly deprecated?: boolean;
  readonly 'x-deprecated-at'?: unknown;
  readonly 'x-sunset'?: unknown;
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

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

/**
 * The headers of a deprecated operation, names and values alternating: `Deprecation` (RFC 9745, a structured date)
 * and `Sunset` (RFC 8594, an HTTP-date). The tests hold the contract to having what they need.
 */
export function toDeprecationHeaders(operation: DeclaredOperation): readonly string[] {
  const { deprecated, 'x-deprecated-at': since, 'x-sunset': sunset } = operation;
  if (deprecated !== true) return [];
  const seconds = Date.parse(`${since}`) / 1000;
  return ['Deprecation', `@${seconds}`, 'Sunset', new Date(`${sunset}`).toUTCString()];
}
