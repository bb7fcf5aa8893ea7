import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ARAZZO, runRespect, WORKFLOWS } from '../scripts/workflows/respect.ts';
import { SANDBOX_KEY as key } from '../src/domain/sandbox.ts';
import { startApi } from './support/api.ts';
import { aFolder } from './support/command.ts';
import { PATIENCE_MS } from './support/every-suite.ts';

const V1 = fileURLToPath(new URL('../openapi/v1.yaml', import.meta.url));
let url = '';

beforeAll(async () => {
  const api = await startApi();
  url = `http://127.0.0.1:${api.port}/sandbox`;
  // Until its data are made, which takes long on a busy machine, it answers 503.
  await vi.waitFor(
    async () => expect((await fetch(`${url}/v1/external/key`)).status).toBe(401),
    PATIENCE_MS,
  );
  return api.close;
});

type Workflow = (typeof WORKFLOWS)[number];

/** Runs a copy of the workflows with one change. */
async function runWith(workflow: Workflow, [from, to]: readonly [from: string, to: string]) {
  const text = await readFile(ARAZZO, 'utf8');
  if (!text.includes(from)) throw new Error(`No workflow has ${from}`);
  const file = join(await aFolder(), 'workflows.arazzo.yaml');
  await writeFile(file, text.replaceAll(from, to).replace('url: v1.yaml', `url: ${V1}`));
  return await runRespect({ url, key, file, workflows: [workflow] });
}

describe('the workflows of workflows.arazzo.yaml', () => {
  test('pass against the sandbox, and do not print the key', async () => {
    const workflows = WORKFLOWS.filter((name) => name !== 'follow-an-alert');
    const { status, output } = await runRespect({ url, key, workflows });
    expect(output).toContain('Workflows: 4 passed, 4 total');
    expect(output).not.toContain(key);
    expect(status).toBe(0);
  });

  test.each<[Workflow, string, readonly [string, string]]>([
    ['walk-all-reports', 'a page that is not there', ['value: 300', 'value: 3000']],
    ['walk-all-reports', 'an end before the end of the list', ['/total <= 400', '/total <= 300']],
    ['walk-all-reports', 'a domain after the last', ['.total <= 3\n', '.total <= 2\n']],
    ['poll-cheaply', 'a list that is sent again', ['$statusCode == 304', '$statusCode == 200']],
    ['poll-cheaply', 'an ETag that no list has', ['$steps.read-once.outputs.etag', 'W/"old"']],
    [
      'read-only-what-is-new',
      'no cursor',
      ['response.header.Plumbline-Cursor', 'response.header.ETag'],
    ],
    ['read-only-what-is-new', 'news where there are none', ['value: start', 'value: none']],
    ['copy-the-account', 'an end before the end of the feed', ['value: 1000', 'value: 10']],
    [
      'copy-the-account',
      'a change that is sent again',
      ['$statusCode == 304', '$statusCode == 200'],
    ],
    ['follow-an-alert', 'an alert that does not resolve', ['retryLimit: 60', 'retryLimit: 1']],
    ['follow-an-alert', 'no open alert', ['resolved_at == null', 'fired_at == null']],
  ])('%s fails on %s', async (workflow, _what, change) => {
    const { status, output } = await runWith(workflow, change);
    expect(output).toContain('Workflows: 1 failed, 1 total');
    expect(status).toBe(1);
  });
});
