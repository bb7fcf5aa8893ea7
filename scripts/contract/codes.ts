/** The lists of codes in the contract's schemas, by schema and field. */
export function listCodes(
  schemas: Readonly<Record<string, Listed>>,
): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const visit = (place: string, schema: Listed) => {
    const { 'x-extensible-enum': codes } = schema;
    if (codes !== undefined) found.set(place, codes);
    if (schema.items !== undefined) visit(place, schema.items);
    for (const [name, field] of Object.entries(schema.properties ?? {}))
      visit(`${place}.${name}`, field);
  };
  for (const [name, schema] of Object.entries(schemas)) visit(name, schema);
  return found;
}

export interface Listed {
  readonly type?: string;
  readonly description?: string;
  readonly items?: Listed;
  readonly properties?: Readonly<Record<string, Listed>>;
  readonly 'x-extensible-enum'?: readonly string[];
}
