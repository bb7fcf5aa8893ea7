/** openapi/v1.yaml for the tests, read once: its operations, with all references resolved. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly responses: Responses;
}
export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: Schema;
  readonly example?: unknown;
}
export type Responses = Readonly<Record<string, Response>>;
export interface Response {
  readonly headers?: Readonly<Record<string, { required?: boolean; schema: Schema }>>;
  readonly content?: Readonly<Record<string, { schema: Schema; examples?: Examples }>>;
}
export type Schema = Readonly<Record<string, unknown>>;
interface Webhook {
  readonly parameters: readonly Parameter[];
  readonly requestBody: Response;
}
type Examples = Readonly<Record<string, { readonly value: unknown }>>;

const document = toResolved(
  parse(readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8')),
) as {
  paths: Readonly<Record<string, { get: Operation }>>;
  'x-webhooks': Readonly<Record<string, { post: Webhook }>>;
  components: { responses: Responses; schemas: Readonly<Record<string, Schema>> };
};

export const { components } = document;
export const operations = Object.values(document.paths).map(({ get }) => get);
export const pathTemplates = Object.keys(document.paths);

type Ids = Readonly<Record<'domain_id' | 'report_id' | 'tls_report_id', string>>;

/** The path of each operation. */
export const listPaths = (ids: Ids): readonly string[] =>
  pathTemplates.map((template) => toPath(template, ids));

export const toPath = (template: string, ids: Ids): string =>
  template.replace(/\{(.*?)\}/g, (_, name: keyof Ids) => ids[name]);

/** What is sent to endpoints, by the type of the event. */
export const webhooks = new Map(
  Object.entries(document['x-webhooks']).map(([type, { post }]) => [type, post]),
);

/** The operation of a path, whatever the method. The path may have a query. */
export function findOperation(path: string): Operation | undefined {
  const [name = ''] = path.split('?');
  return Object.entries(document.paths).find(([template]) => toPattern(template).test(name))?.[1]
    .get;
}

function toPattern(template: string): RegExp {
  return new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`);
}

/** The document with each `$ref` replaced by its target. It has no cycles. */
function toResolved(root: unknown): unknown {
  const at = (ref: string) =>
    ref
      .slice(2)
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], root);
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve);
    if (typeof node !== 'object' || node === null) return node;
    if ('$ref' in node) return resolve(at(node.$ref as string));
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]));
  };
  return resolve(root);
}
