import { toOperationPath } from './anchors.ts';
import { listSamples } from './operations/samples.ts';

/** The parts of the contract that the site uses. */
export interface Contract {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Schema {
  readonly 'x-schema-by-type'?: Readonly<Record<string, object>>;
}

export interface Operation {
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly description: string;
}

interface CodeSample {
  readonly lang: string;
  readonly source: string;
}

/**
 * The contract in the form that Redoc shows: with the page's own address as the server (Redoc cannot fill in
 * a server's variables), with samples for each operation, and with each type's context under the
 * alert. The samples use the variables that the guides define.
 */
export function toDrawn<C extends Contract>(contract: C) {
  const paths = Object.entries(contract.paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [
        method,
        { ...operation, ...toOwn(path, operation) },
      ]),
    ),
  ]);
  const servers = [{ url: '/', description: 'Where this page was served from.' }];
  const components = { ...contract.components, schemas: toDrawnSchemas(contract) };
  return { ...contract, servers, components, paths: Object.fromEntries(paths) as DrawnPaths };
}

/** Redoc follows only references. So the schemas that `x-schema-by-type` names are added as alternatives. */
function toDrawnSchemas({ components }: Contract) {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => {
    const { 'x-schema-by-type': byType } = schema;
    return [name, byType === undefined ? schema : { ...schema, anyOf: Object.values(byType) }];
  });
  return Object.fromEntries(schemas);
}

type DrawnPaths = Record<
  string,
  Record<string, Operation & { readonly 'x-codeSamples': readonly CodeSample[] }>
>;

/** What Redoc shows beside what the contract says. */
function toOwn(path: string, operation: Operation) {
  const own = `[This operation on a page of its own](/docs/${toOperationPath(operation.operationId)})`;
  return {
    description: `${operation.description}\n\n${own}`,
    'x-codeSamples': toCodeSamples(path, operation),
  };
}

function toCodeSamples(path: string, { operationId }: Operation): CodeSample[] {
  return listSamples(path, operationId).map(({ label, source }) => ({ lang: label, source }));
}
