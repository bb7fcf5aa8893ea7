/**
 * `npm run networks` writes `generated/networks.mmdb` from the package `@ip-location-db/asn`. With `--if-needed`, only when
 * it is of another version of the package; that the package is not installed is then reported and is not an error.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from 'maxmind';
import { SHIPPED_NETWORKS } from '../../src/http/networks.ts';
import { parseLine, toTable, toType } from './table.ts';

const isOptional = process.argv.includes('--if-needed');
const manifest = findManifest();
if (manifest !== undefined) await build(manifest);
else if (isOptional)
  tell('The networks of addresses are not built: the development packages build them.');
else throw new Error('The package @ip-location-db/asn is not installed.');

function findManifest(): string | undefined {
  try {
    return fileURLToPath(import.meta.resolve('@ip-location-db/asn/package.json'));
  } catch {
    return undefined;
  }
}

async function build(manifest: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  if (isOptional && (await findType()) === toType(version)) return;
  tell('Building the networks of addresses in generated/networks.mmdb: it takes some seconds.');
  const table = toTable(version, {
    v4: readLines(dirname(manifest), 'asn-ipv4-num.csv'),
    v6: readLines(dirname(manifest), 'asn-ipv6-num.csv'),
  });
  // Named when it is whole, so that an interrupted build does not count.
  const unnamed = `${SHIPPED_NETWORKS}.${process.pid}`;
  writeFileSync(unnamed, table);
  renameSync(unnamed, SHIPPED_NETWORKS);
  tell(`The networks of addresses are in generated/networks.mmdb: ${table.length} bytes.`);
}

/** undefined without a file, and for one that is no MMDB file. */
async function findType(): Promise<string | undefined> {
  const former = await open(SHIPPED_NETWORKS).catch(() => undefined);
  return former?.metadata.databaseType;
}

function readLines(folder: string, file: string) {
  return readFileSync(join(folder, file), 'utf8').split('\n').flatMap(parseLine);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
