import { OpenAPIBackend } from 'openapi-backend';
import { expect, test } from 'vitest';
import { readContract } from '../../src/external/contract-document.ts';

test('openapi/v1.yaml passes the check of openapi-backend that a start leaves out', async () => {
  const document = await readContract();
  const open = (definition: typeof document) =>
    new OpenAPIBackend({ definition, strict: true, validate: false }).init();
  await expect(open(document)).resolves.toBeDefined();
  const { paths: _, ...rest } = document;
  await expect(open(rest as typeof document)).rejects.toThrow(/required property 'paths'/);
});
