/** The parts of the contract that the pages of operations show. */
export interface ApiContract {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly 'x-webhooks': Paths;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type Paths = Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;

export interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly (Parameter | Ref)[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Answer | Ref>>;
}

export interface Parameter extends Header {
  readonly name: string;
  readonly in: string;
}

export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Body {
  readonly content?: Readonly<Record<string, Content>>;
}

interface Content {
  readonly schema: Schema | Ref;
  readonly examples: Readonly<Record<string, Example>>;
}

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Answer extends Body {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Ref>>;
  readonly links?: Readonly<Record<string, Link | Ref>>;
}

/** An operation that goes on with what an answer says. */
export interface Link {
  readonly operationId: string;
  readonly description: string;
}

export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Of texts that released contracts have without `maxLength`: adding it would break generated programs. */
  readonly 'x-max-length'?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema | Ref>>;
  readonly items?: Schema | Ref;
  readonly additionalProperties?: boolean;
  readonly 'x-schema-by-type'?: Readonly<Record<string, Ref>>;
}

export interface Ref {
  readonly $ref: string;
}

/** What a reference names, or the value itself. */
export function resolve<T extends object>(contract: ApiContract, node: T | Ref): T {
  if (!('$ref' in node)) return node;
  const steps = node.$ref.replace(/^#\//, '').split('/');
  const found = steps.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    contract,
  );
  if (found === undefined) throw new Error(`The contract has no ${node.$ref}.`);
  return resolve(contract, found as T | Ref);
}

/** The name of the component that a reference names: `Domain` of `#/components/schemas/Domain`. */
export function nameOf(node: object | undefined): string | undefined {
  return node !== undefined && '$ref' in node ? String(node.$ref).split('/').at(-1) : undefined;
}

/** The media type and the examples of a body; every body of the contract is JSON. */
export function contentOf({ content }: Body): Content | undefined {
  return content?.['application/json'];
}

/** Each operation with its method and path, in the contract's order. */
export function listOperations(paths: Paths) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}
