import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { listCompiled } from './compile.ts';

/** What the compiled code imports from one module of a library. */
export interface Imports {
  /** `kysely/migration` */
  readonly id: string;
  /** `kysely` */
  readonly library: string;
  /** `default` for a default import. */
  readonly names: readonly string[];
}

const STATIC =
  /^import\s+(?:(?<whole>\w+)\s*,?\s*)?(?:\{(?<named>[^}]*)\}|\*\s+as\s+(?<all>\w+))?\s*from\s+['"](?<id>[^'"]+)['"]/gm;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const DYNAMIC = /\bimport\(['"]([^'"]+)['"]\)/g;

/** Every import of a library in the compiled code. */
export async function listImports(root: string): Promise<Imports[]> {
  const names = new Map<string, Set<string>>();
  for (const [id, name] of listCompiled(root).flatMap((file) =>
    readNames(readFileSync(file, 'utf8')),
  ))
    if (!id.startsWith('.') && !isBuiltin(id))
      names.set(id, (names.get(id) ?? new Set()).add(name));
  const imports: Imports[] = [];
  for (const [id, given] of names)
    imports.push({ id, library: toLibrary(id), names: await toNames(id, given) });
  return imports.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** All names of the module where it is imported as a whole. */
async function toNames(id: string, given: ReadonlySet<string>): Promise<string[]> {
  const names = given.has('*') ? Object.keys(await import(id)) : [...given];
  return names.filter((name) => IDENTIFIER.test(name) && name !== '__esModule').sort();
}

/** Pairs of a module and a name that a text imports from it; `*` for everything. */
export function readNames(text: string): [string, string][] {
  const found: [string, string][] = [];
  for (const { groups: { id = '', whole, named, all } = {} } of text.matchAll(STATIC)) {
    if (whole !== undefined) found.push([id, 'default']);
    if (all !== undefined) found.push([id, '*']);
    for (const item of named?.split(',') ?? []) {
      const [name = ''] = item.trim().split(/\s+as\s+/);
      if (name !== '') found.push([id, name]);
    }
  }
  for (const [, id = ''] of text.matchAll(DYNAMIC)) found.push([id, '*']);
  return found;
}

function toLibrary(id: string): string {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}
