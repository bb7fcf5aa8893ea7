/**
 * `npm run generate`: the contract's types in generated/v1.d.ts. A code that the contract does not list does not compile here.
 * Clients have texts in their places, because more may come.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTs, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const CONTRACT = new URL('../../openapi/v1.yaml', import.meta.url);
const TYPES = new URL('../../generated/v1.d.ts', import.meta.url);

const { factory } = ts;

async function renderTypes(): Promise<string> {
  const nodes = await openapiTs(CONTRACT, {
    immutable: true,
    transform: (schema) => {
      const codes: readonly string[] | undefined = schema['x-extensible-enum'];
      if (codes === undefined) return undefined;
      const known = codes.map((code) =>
        factory.createLiteralTypeNode(factory.createStringLiteral(code)),
      );
      return factory.createUnionTypeNode([...known, ...(schema.nullable ? [NULL] : [])]);
    },
  });
  return `${COMMENT_HEADER}${astToString(nodes)}`;
}

const NULL = factory.createLiteralTypeNode(factory.createNull());

if (import.meta.main) {
  const types = await renderTypes();
  if (!process.argv.includes('--check')) writeFileSync(TYPES, types);
  else if (readFileSync(TYPES, 'utf8') !== types)
    throw new Error('generated/v1.d.ts is not that of the contract: npm run generate');
}
