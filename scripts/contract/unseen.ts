import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { diff } from './oasdiff.ts';

/**
 * The parts that oasdiff's changelog does not check, according to `oasdiff checks changelog coverage
 * --patterns`, although its diff shows them. None of them may change.
 */
const SEALED = new Set([
  'additionalProperties',
  'additionalPropertiesAllowed',
  'allowReserved',
  'explode',
  'not',
  'securitySchemes',
  'style',
  'uniqueItems',
]);
/** Nodes of a diff's tree that are only part of a path. */
const STRUCTURE = /^(paths|components|operations|responses|parameters|headers|content|modified)$/;

/** The places of differences that oasdiff's changelog does not check. */
export function listUnseen(from: string, to: string): readonly string[] {
  const { paths, components } = diff(from, to) as Record<string, Record<string, unknown>>;
  const tree = { paths, components: { securitySchemes: components?.['securitySchemes'] } };
  return [...findSealed(tree, [])].map((path) =>
    path.filter((part) => !STRUCTURE.test(part)).join(' '),
  );
}

function* findSealed(node: unknown, path: readonly string[]): Generator<readonly string[]> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, child] of Object.entries(node)) {
    if (child === undefined) continue;
    const here = [...path, key];
    if (isSealed(here)) yield here;
    else yield* findSealed(child, here);
  }
}

function isSealed(path: readonly string[]): boolean {
  const [parent, key = ''] = path.slice(-2);
  // The keys below `modified` are names, for example of properties, not keywords.
  if (parent === 'modified') return false;
  return SEALED.has(key) || (key === 'schema' && path.includes('headers'));
}

/** The error codes in a contract's examples. No schema lists them, so that codes can be added. */
export function listErrorCodes(file: string): ReadonlySet<string> {
  return new Set(findCodes(parse(readFileSync(file, 'utf8'))));
}

function* findCodes(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { error } = node as { error?: { code?: unknown } };
  if (typeof error?.code === 'string') yield error.code;
  for (const child of Object.values(node)) yield* findCodes(child);
}
