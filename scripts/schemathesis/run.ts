import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outputOf } from '../output-of.ts';

const V1 = fileURLToPath(new URL('../../openapi/v1.yaml', import.meta.url));
const CONFIGS = fileURLToPath(new URL('../../test/schemathesis/', import.meta.url));

interface Wanted {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  /** A file with several keys, for runs with more than one. */
  readonly keys?: string;
  /** The output folder of Schemathesis. */
  readonly folder: string;
  readonly config?: string;
  readonly phases?: string;
  readonly maxExamples: number;
  readonly seed: number;
}

export interface Ran {
  readonly isPassed: boolean;
  readonly cases: number;
  /** Operations that mostly answered 429. */
  readonly rateLimited: readonly unknown[];
}

/** One run of Schemathesis. Its output is printed at its end, because another run may be in progress. */
export async function runSchemathesis(wanted: Wanted): Promise<Ran> {
  const { name, folder } = wanted;
  const report = join(folder, `${name}.json`);
  const { status, output } = await run(
    [...toArguments(wanted), '--report-json-path', report],
    wanted,
  );
  process.stdout.write(`\n${name}:\n${output}`);
  const { complete, test_cases, warnings } = JSON.parse(await readFile(report, 'utf8'));
  return {
    isPassed: status === 0 && complete,
    cases: test_cases.generated,
    rateLimited: warnings.rate_limited,
  };
}

function toArguments({ url, config = 'schemathesis.toml', phases, maxExamples, seed }: Wanted) {
  return [
    ...['--config-file', join(CONFIGS, config), 'run', V1, '--url', url],
    ...(phases === undefined ? [] : ['--phases', phases]),
    // Of an option that is given twice, the last one counts.
    ...['--max-examples', `${maxExamples}`, ...process.argv.slice(2), '--seed', `${seed}`],
  ];
}

function run(args: readonly string[], { folder, key, keys = '' }: Wanted) {
  const child = spawn('schemathesis', args, {
    // It stores data between runs in the current folder.
    cwd: folder,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: join(CONFIGS, 'hooks.py'),
      PLUMBLINE_API_KEY: key,
      PLUMBLINE_API_KEYS: keys,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return outputOf(child);
}
