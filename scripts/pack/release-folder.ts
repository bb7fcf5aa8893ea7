import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { findSection } from '../contract/changelog.ts';
import { writeComponents } from './components.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SUMS = 'SHA256SUMS';
/** What a signature is made for, so that it is valid for nothing else (`ssh-keygen`, -Y sign). */
const NAMESPACE = 'plumbline-release';

/** What an operator and partners get, in the order of the notes. `clients/` keeps `plumbline-*.tgz` the name of one file. */
const CONTENTS = [
  [
    'plumbline-*.tgz',
    'the service, for Node 24 or later: `npm install --global --prefix /opt/plumbline ./plumbline-*.tgz`; what comes next is in ' +
      '`/opt/plumbline/lib/node_modules/plumbline/docs/operate.md`',
  ],
  ['clients/*.tgz', 'a client for TypeScript and JavaScript: `npm install`'],
  ['clients/*.whl', 'a client for Python: `pip install`'],
  ['v1.yaml', 'the contract, as OpenAPI 3.0'],
  ['v1.json', 'the same'],
  ['components.cdx.json', 'the libraries that the package contains, as CycloneDX'],
] as const;

interface ReleaseOptions {
  /** Whether the checksums get a signature, which the notes are to name. */
  readonly isSigned: boolean;
}

/** How who has the public key verifies the signature, as `docs/operate.md` says. */
const VERIFYING = `The signature verifies the checksums. Get the public key by another way than this
folder, as the file \`plumbline-release.pub\` in it:

\`\`\`sh
echo "releases@example.com $(cat plumbline-release.pub)" >allowed_signers
ssh-keygen -Y verify -f allowed_signers -I releases@example.com -n ${NAMESPACE} -s ${SUMS}.sig <${SUMS}
\`\`\`
`;

/** Packs the service and the clients, and writes them into `folder` with the contract, notes and checksums. */
export function writeRelease(folder: string, options: ReleaseOptions): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'clients'), { recursive: true });
  run('npm', ['pack', '--silent', '--pack-destination', folder]);
  for (const language of ['typescript', 'python']) {
    const path = run(process.execPath, ['scripts/clients/pack.ts', language]).trim();
    copyFileSync(path, join(folder, 'clients', basename(path)));
  }
  const contract = readFileSync(join(ROOT, 'openapi/v1.yaml'), 'utf8');
  writeFileSync(join(folder, 'v1.yaml'), contract);
  writeFileSync(join(folder, 'v1.json'), `${JSON.stringify(parse(contract), null, 2)}\n`);
  writeComponents(ROOT, folder);
  describeRelease(folder, readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), options);
}

/** Signs the checksums with a private key of OpenSSH; `SHA256SUMS.sig` is what `ssh-keygen -Y verify` reads. */
export function signRelease(folder: string, key: string): void {
  const path = join(folder, SUMS);
  execFileSync('ssh-keygen', ['-Y', 'sign', '-q', '-f', key, '-n', NAMESPACE, path], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Writes the notes and the checksums of what is in `folder`. Throws when something is missing. */
export function describeRelease(
  folder: string,
  changelog: string,
  { isSigned }: ReleaseOptions,
): void {
  const files = CONTENTS.map(([pattern, words]) => {
    const [file, ...more] = globSync(pattern, { cwd: folder });
    if (file === undefined || more.length > 0)
      throw new Error(`The release has no one ${pattern}.`);
    return { file, words };
  });
  const [, version = ''] = /^plumbline-(.+)\.tgz$/.exec(files[0]?.file ?? '') ?? [];
  const changes = findSection(changelog, version) ?? findSection(changelog, 'Unreleased') ?? '';
  const notes = `# Plumbline ${version}

${files.map(({ file, words }) => `- \`${file}\`: ${words}`).join('\n')}
${isSigned ? `- \`${SUMS}.sig\`: the signature of the checksums\n` : ''}
\`sha256sum --check ${SUMS}\` verifies them.
${isSigned ? VERIFYING : ''}
${changes.trim()}
`;
  writeFileSync(join(folder, 'NOTES.md'), notes);
  const sums = [...files.map(({ file }) => file), 'NOTES.md'].map((file) => toSum(folder, file));
  writeFileSync(join(folder, SUMS), sums.join(''));
}

/** A line as `sha256sum` writes it. */
const toSum = (folder: string, file: string): string =>
  `${hash('sha256', readFileSync(join(folder, file)), 'hex')}  ${file}\n`;

/** What is told goes to standard error, so that the output is the path of a file. */
const run = (command: string, args: readonly string[]): string =>
  execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] });
