import { readFile } from 'node:fs/promises';
import type { Document } from 'openapi-backend';

/** The contract as it was written: openapi/v1.yaml. */
export type ContractDocument = Document;

/** Reads the contract. The package has it as JSON, because reading YAML takes longer than the rest of the start. */
export async function readContract(): Promise<ContractDocument> {
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
  if (!import.meta.url.endsWith('.ts')) return JSON.parse(await read('../../v1.json'));
  const { parse } = await import('yaml');
  return parse(await read('../../../openapi/v1.yaml'));
}
