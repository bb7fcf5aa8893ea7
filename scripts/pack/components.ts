import { execFileSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Component {
  readonly name: string;
  readonly version: string;
}

/**
 * Writes the list of the libraries that the package in `folder` contains or installs (CycloneDX 1.5): npm makes it from the
 * lock file, and what the package's own manifest does not name is left out.
 */
export function writeComponents(root: string, folder: string): void {
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const [archive = ''] = globSync('plumbline-*.tgz', { cwd: folder });
  const manifest = run('tar', ['-xzOf', join(folder, archive), 'package/package.json']);
  const { name, version, dependencies } = JSON.parse(manifest);
  const contained = new Set(Object.entries<string>(dependencies).map(toNameAndVersion));
  const all = JSON.parse(run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']));
  const isContained = (one: Component) => contained.has(`${one.name}@${one.version}`);
  const components = all.components.filter(isContained);
  if (components.length !== contained.size)
    throw new Error(`${contained.size - components.length} libraries are not in the lock file.`);
  const { metadata, dependencies: _, ...rest } = all;
  const component = { ...metadata.component, name, version };
  const list = { ...rest, metadata: { ...metadata, component }, components };
  writeFileSync(join(folder, 'components.cdx.json'), `${JSON.stringify(list, null, 2)}\n`);
}

/** A joined library has an alias: `npm:name@version`. */
const toNameAndVersion = ([name, spec]: [string, string]) =>
  spec.startsWith('npm:') ? spec.slice('npm:'.length) : `${name}@${spec}`;
