import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

interface Contract {
  readonly paths: Record<string, object>;
  readonly 'x-webhooks'?: Readonly<Record<string, { readonly post: Webhook }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface Webhook {
  readonly operationId: string;
  readonly parameters: readonly object[];
  readonly requestBody: { readonly content: object };
}
interface Schema {
  readonly 'x-schema-by-type'?: Readonly<Record<string, object>>;
  properties?: Readonly<Record<string, object>>;
}

/**
 * Calls `use` with copies of two contracts in the form that oasdiff needs. The copies are deleted afterwards.
 */
export function withComparable<T>(
  [released, current]: readonly [released: string, current: string],
  use: (released: string, current: string) => T,
): T {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-contract-'));
  const copy = (name: string, file: string) => {
    const path = join(folder, name);
    writeFileSync(path, toComparable(readFileSync(file, 'utf8')));
    return path;
  };
  try {
    return use(copy('released.json', released), copy('current.json', current));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Where oasdiff finds what is sent to endpoints. */
export const WEBHOOK_PATH = '/x-webhooks/';

/**
 * oasdiff follows only references, and no extension. So what is sent to endpoints becomes an answer, which its receiver
 * reads as it reads one. And each schema that `x-schema-by-type` names is added where it applies, as
 * a field named for its type.
 */
function toComparable(text: string): string {
  const contract = parse(text) as Contract;
  for (const schema of Object.values(contract.components.schemas)) {
    const { 'x-schema-by-type': byType } = schema;
    if (byType !== undefined) schema.properties = byType;
  }
  for (const [type, { post }] of Object.entries(contract['x-webhooks'] ?? {})) {
    const { operationId, parameters, requestBody } = post;
    const responses = { 200: { description: type, content: requestBody.content } };
    contract.paths[`${WEBHOOK_PATH}${type}`] = { get: { operationId, parameters, responses } };
  }
  return JSON.stringify(contract);
}
