/** The parts of the contract that the site looks into. */
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
}

interface CodeSample {
  readonly lang: string;
  readonly source: string;
}

/**
 * The contract as Redoc draws it: served from where the reader is (Redoc cannot fill in a server's variables),
 * with a line to paste for each operation, and with each type's context under the alert. The lines' variables are
 * those that the guides have the reader set.
 */
export function toDrawn<C extends Contract>(contract: C) {
  const paths = Object.entries(contract.paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [
        method,
        { ...operation, 'x-codeSamples': toCodeSamples(path) },
      ]),
    ),
  ]);
  const servers = [{ url: '/', description: 'Where this page was served from.' }];
  const components = { ...contract.components, schemas: toDrawnSchemas(contract) };
  return { ...contract, servers, components, paths: Object.fromEntries(paths) as DrawnPaths };
}

/** Redoc follows references alone; what `x-schema-by-type` names it draws as one schema or another. */
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

function toCodeSamples(path: string): CodeSample[] {
  const filled = path.replace('{domain_id}', '$DOMAIN_ID');
  const source = `curl -H "Authorization: Bearer $PLUMBLINE_API_KEY" \\\n  "$PLUMBLINE_BASE_URL${filled}?limit=50"`;
  return [{ lang: 'curl', source }];
}
