import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { outputOf } from '../output-of.ts';

/** The workflows of partners. They call the others, which need more input than a key. */
export const WORKFLOWS = [
  'walk-all-reports',
  'poll-cheaply',
  'read-only-what-is-new',
  'copy-the-account',
  'follow-an-alert',
] as const;
export const ARAZZO = fileURLToPath(
  new URL('../../openapi/workflows.arazzo.yaml', import.meta.url),
);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Wanted {
  readonly url: string;
  readonly key: string;
  readonly file?: string;
  readonly workflows?: readonly string[];
  readonly onOutput?: (text: string) => void;
}

/** Runs workflows against a live server. The status is 1 when one of their checks has failed. */
export async function runRespect({
  url,
  key,
  file = ARAZZO,
  workflows = WORKFLOWS,
  onOutput,
}: Wanted): Promise<{ readonly status: number | null; readonly output: string }> {
  const args = workflows.flatMap((workflow) => ['--workflow', workflow]);
  const child = spawn('redocly', ['respect', file, ...args], {
    cwd: ROOT,
    // Passed in the environment, because every user of the machine can read a command line.
    env: {
      ...process.env,
      REDOCLY_CLI_RESPECT_SERVER: `v1=${url}`,
      REDOCLY_CLI_RESPECT_INPUT: `api_key=${key}`,
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return await outputOf(child, onOutput);
}
