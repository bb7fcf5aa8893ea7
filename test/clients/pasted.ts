import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { listOperations } from '../../scripts/docs/operations/contract.ts';
import { listSamples, listSetups } from '../../scripts/docs/operations/samples.ts';
import { serveSandbox } from '../../scripts/served-plumbline.ts';
import { finish } from '../support/command.ts';

interface Runner {
  readonly language: string;
  /** Runs the program that it is given as standard input. */
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Go is left out: it refuses a program with a variable that nothing uses, which is what the reader goes on with. The
 * scenario compiles and runs the same lines.
 */
const RUNNERS: Readonly<Record<string, Runner>> = {
  typescript: { language: 'ts', command: 'npx', args: ['node', '--input-type=module-typescript'] },
  python: { language: 'python', command: 'build/venv/bin/python', args: ['-'] },
};

/** Runs each sample of the docs as a reader pastes it: alone, after what its page says comes before. */
export async function runPasted(name: string, folder: string, print: (line: string) => void) {
  const runner = RUNNERS[name];
  if (runner === undefined) return { passed: 0, failed: 0, isWhole: true };
  const { url, key, stop } = await serveSandbox();
  const given = { PLUMBLINE_BASE_URL: url, PLUMBLINE_API_KEY: key, PYTHONPATH: 'build' };
  const env = { ...process.env, ...given };
  let [passed, failed] = [0, 0];
  try {
    for (const { operationId, text } of listPasted(runner.language)) {
      const child = spawn(runner.command, runner.args, { cwd: folder, env, timeout: 60_000 });
      child.stdin.end(text);
      const { status, stderr } = await finish(child);
      if (status === 0) passed += 1;
      else failed += 1;
      const seen = status === 0 ? '' : `\n${stderr}`;
      print(`${status === 0 ? 'ok' : 'not ok'} as pasted: ${operationId}${seen}`);
    }
  } finally {
    await stop();
  }
  return { passed, failed, isWhole: failed === 0 };
}

function listPasted(language: string) {
  const yaml = readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8');
  return listOperations(parse(yaml).paths).map(({ path, operation: { operationId } }) => {
    const parts = [listSetups(), listSamples(path, operationId)];
    const own = parts.flatMap((part) => part.filter((sample) => sample.language === language));
    return { operationId, text: own.map(({ source }) => source).join('\n\n') };
  });
}
