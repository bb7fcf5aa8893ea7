import { hash } from 'node:crypto';
import type { ContractDocument } from './contract.ts';

/** Keywords without an effect on what is sent. */
const WORDS = new Set(['description', 'title', 'example', 'examples', 'externalDocs', 'links']);
const LENGTH = 8;

/**
 * A version of each operation's answer schema, by operationId. It is part of every entity tag, so that a
 * client with a tag of an older release gets the fields that the new one added (decision 1.12). It is
 * computed from the contract's 200 answer and all that it refers to. A change of descriptions alone does not
 * change it.
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

/** `isNames` where the keys are names defined by the contract, not keywords: a field may be called `title`. */
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
