/**
 * `npm run generate`: the contract's types in generated/v1.d.ts. A code that the contract does not list does not compile here;
 * in the packed client (scripts/clients/pack.ts), any other text is allowed beside the known codes, because more may come.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTs, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const CONTRACT = new URL('../../openapi/v1.yaml', import.meta.url);
const TYPES = new URL('../../generated/v1.d.ts', import.meta.url);

const { factory, SyntaxKind } = ts;

/** `isOpen`: codes that are not known yet are allowed. */
export async function renderTypes({ isOpen }: { readonly isOpen: boolean }): Promise<string> {
  const nodes = await openapiTs(CONTRACT, {
    immutable: !isOpen,
    transform: (schema) => {
      const codes: readonly string[] | undefined = schema['x-extensible-enum'];
      if (codes === undefined) return undefined;
      const known = codes.map((code) =>
        factory.createLiteralTypeNode(factory.createStringLiteral(code)),
      );
      const others = [...(isOpen ? [OTHERS] : []), ...(schema.nullable ? [NULL] : [])];
      return factory.createUnionTypeNode([...known, ...others]);
    },
  });
  return `${COMMENT_HEADER}${astToString(nodes)}`;
}

const NULL = factory.createLiteralTypeNode(factory.createNull());

/** `string & {}`: alone, `string` would take the codes into itself, and editors would not propose them. */
const OTHERS = factory.createParenthesizedType(
  factory.createIntersectionTypeNode([
    factory.createKeywordTypeNode(SyntaxKind.StringKeyword),
    factory.createTypeLiteralNode([]),
  ]),
);

if (import.meta.main) {
  const types = await renderTypes({ isOpen: false });
  if (!process.argv.includes('--check')) writeFileSync(TYPES, types);
  else if (readFileSync(TYPES, 'utf8') !== types)
    throw new Error('generated/v1.d.ts is not that of the contract: npm run generate');
}
