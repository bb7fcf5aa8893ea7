import GithubSlugger from 'github-slugger';
import { marked, type Token, type Tokens } from 'marked';
import { toAnchor, toOperationPath } from './anchors.ts';
import { findCode } from './markdown.ts';
import type { Page } from './pages.ts';

/** What the search finds: its address below `/docs/`, its name, the title of its page, and its words. */
export interface Entry {
  readonly at: string;
  readonly name: string;
  readonly page: string;
  readonly text: string;
}

/** The parts of the contract that are searched. */
export interface Searched {
  readonly paths: Operations;
  readonly 'x-webhooks': Operations;
}

type Operations = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Named[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Body {
  readonly headers?: Readonly<Record<string, Named>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Named {
  readonly $ref?: string;
  readonly name: string;
  readonly description?: string;
}

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly 'x-schema-by-type'?: Readonly<Record<string, Schema>>;
}

/** The sections of a guide, and each code that a table describes. */
export function listGuideEntries({ slug, title }: Page, text: string): Entry[] {
  const slugger = new GithubSlugger();
  const path = slug === 'index' ? '' : slug;
  return toSections(marked.lexer(text)).flatMap(({ heading, tokens }) => {
    const rows = tokens.flatMap((token) => (token.type === 'table' ? toRows(token) : []));
    const codes = rows.flatMap((cells) => {
      const code = findCode(cells);
      if (code === undefined) return [];
      return { at: `${path}#${code}`, name: code, page: title, text: toWords(cells.join(' ')) };
    });
    const rest = rows.filter((cells) => findCode(cells) === undefined).map((row) => row.join(' '));
    const words = tokens.filter(isText).map(({ raw }) => raw);
    const place =
      heading === undefined
        ? { at: path, name: title }
        : { at: `${path}#${slugger.slug(heading)}`, name: toWords(heading) };
    return [{ ...place, page: title, text: toWords([...words, ...rest].join(' ')) }, ...codes];
  });
}

interface Section {
  /** The title of the page has no anchor. */
  readonly heading: string | undefined;
  readonly tokens: Token[];
}

function toSections(tokens: readonly Token[]): Section[] {
  const sections: Section[] = [{ heading: undefined, tokens: [] }];
  for (const token of tokens) {
    if (token.type === 'heading' && token['depth'] > 1)
      sections.push({ heading: token['text'], tokens: [] });
    else sections.at(-1)?.tokens.push(token);
  }
  return sections;
}

function toRows(token: Token): string[][] {
  return (token as Tokens.Table).rows.map((row) => row.map(({ text }) => text));
}

/** Samples are found by the words around them, and tables by their rows. */
function isText({ type }: Token): boolean {
  return !['code', 'heading', 'table'].includes(type);
}

/** Markdown without its marks. */
function toWords(text: string): string {
  const unlinked = text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
  return unlinked.replaceAll(/[`*|]/g, '').replaceAll(/\s+/g, ' ').trim();
}

/**
 * Each operation, and once each parameter, header and field: where the fewest names lead to it. Fields of one
 * name in one place, as those of the contexts of alerts, are one entry.
 */
export function listContractEntries(contract: Searched): Entry[] {
  const operations = [contract.paths, contract['x-webhooks']].flatMap((paths) =>
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
    ),
  );
  const pages = operations.map(({ path, method, operation }) => {
    const { summary, operationId, description = '' } = operation;
    const text = toWords(`${method.toUpperCase()} ${path} ${operationId} ${description}`);
    return { at: toOperationPath(operationId), name: summary, page: 'API reference', text };
  });
  const seen = new Set<unknown>();
  const parts = operations
    .flatMap(({ operation }) => listParts(contract, operation))
    .toSorted((one, other) => one.depth - other.depth)
    .filter(({ what }) => seen.size < seen.add(what).size);
  return [...pages, ...joinSame(parts.map(({ entry }) => entry))];
}

interface Part {
  readonly entry: Entry;
  /** How many names lead to it. */
  readonly depth: number;
  /** The same for all places of it. */
  readonly what: unknown;
}

function listParts(contract: Searched, operation: Operation): Part[] {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const answer = requestBody ?? responses['200'];
  const headers = Object.entries(answer?.headers ?? {}).map(([name, header]) => ({
    ...resolve(contract, header),
    name,
  }));
  const named = [...parameters.map((parameter) => resolve(contract, parameter)), ...headers];
  const taken = new Set(named.map(({ name }) => name));
  const toEntry = (anchor: string, name: string, words: string): Entry => ({
    at: `${toOperationPath(operationId)}#${anchor}`,
    name,
    page: summary,
    text: toWords(words),
  });
  const schema = answer?.content?.['application/json']?.schema ?? {};
  return [
    ...named.map(({ name, description = '' }) => ({
      entry: toEntry(name, name, description),
      depth: 1,
      what: description,
    })),
    ...listFields(contract, schema, []).map(({ path, name, field }) => ({
      entry: toEntry(toAnchor(path, taken), name, toFieldWords(resolve(contract, field))),
      depth: path.length,
      what: field,
    })),
  ];
}

interface Field {
  readonly path: readonly string[];
  readonly name: string;
  readonly field: Schema;
}

/** Every field below a schema, with its names from the top, and each type that gives a field another schema. */
function listFields(contract: Searched, given: Schema, path: readonly string[]): Field[] {
  const { properties = {}, items, ...schema } = resolve(contract, given);
  const types = Object.entries(schema['x-schema-by-type'] ?? {});
  const parts = [
    ...(schema.allOf ?? []),
    ...(schema.oneOf ?? []),
    ...types.map(([, type]) => type),
  ];
  return [
    ...types.map(([name, field]) => ({ path, name, field })),
    ...Object.entries(properties).flatMap(([name, field]) => [
      { path: [...path, name], name, field },
      ...listFields(contract, field, [...path, name]),
    ]),
    ...[...parts, ...(items === undefined ? [] : [items])].flatMap((part) =>
      listFields(contract, part, path),
    ),
  ];
}

function joinSame(entries: readonly Entry[]): Entry[] {
  const joined = new Map<string, Entry>();
  for (const entry of entries) {
    const key = `${entry.at} ${entry.name}`;
    const text = [joined.get(key)?.text, entry.text].filter(Boolean).join(' ');
    joined.set(key, { ...entry, text });
  }
  return [...joined.values()];
}

function toFieldWords({ description = '', enum: values = [] }: Schema): string {
  return [description, ...values].join(' ');
}

function resolve<T extends { readonly $ref?: string }>(contract: object, given: T): T {
  if (given.$ref === undefined) return given;
  const names = given.$ref.replace('#/', '').split('/');
  const found = names.reduce<unknown>(
    (node, name) => (node as Record<string, unknown>)[name],
    contract,
  );
  return { ...(found as T), ...('description' in given ? { description: given.description } : {}) };
}
