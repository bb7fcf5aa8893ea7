import { hash } from 'node:crypto';
import type { ContractDocument } from './contract.ts';

/** Keywords that say nothing about what is sent. */
const WORDS = new Set(['description', 'title', 'example', 'examples', 'externalDocs', 'links']);
const LENGTH = 8;

/**
 * A name for the shape in which each operation answers, by operationId: part of every entity tag, so that a
 * poller with a tag of an older release gets the fields that the new one added (decision 1.12). Made of the
 * contract's 200, with everything that it refers to; a change of words alone changes no name.
 */
export function toShapes(document: ContractDocument): ReadonlyMap<string, string> {
  const operations = Object.values(document.paths ?? {}).flatMap((path) => path?.get ?? []);
  return new Map(
    operations.map(({ operationId = '', responses }) => {
      const shape = JSON.stringify(toShape(responses?.['200'], document));
      return [operationId, hash('sha256', shape, 'base64url').slice(0, LENGTH)];
    }),
  );
}

/** `isNames` where the keys are names that the contract gives, not keywords: a field may be a `title`. */
function toShape(node: unknown, document: ContractDocument, isNames = false): unknown {
  if (Array.isArray(node)) return node.map((item) => toShape(item, document));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node) return toShape(resolve(String(node.$ref), document), document);
  const entries = Object.entries(node)
    .filter(([key]) => isNames || !WORDS.has(key))
    .map(([key, value]) => [key, toShape(value, document, !isNames && key === 'properties')]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** `#/components/schemas/Report`. No schema of the contract refers to itself. */
function resolve(ref: string, document: ContractDocument): unknown {
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
}
