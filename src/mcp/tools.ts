import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Operation } from '../external/contract.ts';

export function toTool({ operationId, summary, description = '', ...rest }: Operation): Tool {
  const parameters = rest.parameters.filter((one) => one.in !== 'header');
  const properties = parameters.map((one) => [
    one.name,
    { ...one.schema, description: one.description },
  ]);
  return {
    name: operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: summary,
    description: description.replace(/[^.]*`ETag`[^.]*\./g, ''),
    inputSchema: {
      type: 'object',
      properties: toJsonSchema(Object.fromEntries(properties)),
      required: parameters.filter((one) => one.in === 'path').map(({ name }) => name),
      additionalProperties: false,
    },
    outputSchema: toJsonSchema(rest.responses['200']?.content?.['application/json']?.schema),
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  };
}

/** JSON Schema of OpenAPI 3.0's, without examples. */
function toJsonSchema(schema: unknown) {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (/^(?:x-.*|examples?)$/.test(key)) return undefined;
    if (value?.nullable !== true) return value;
    const { nullable: _, ...rest } = value;
    return { ...rest, type: [rest.type, 'null'], ...(rest.enum && { enum: [...rest.enum, null] }) };
  });
}
