import { execFile } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { aSandbox, DOCUMENTED, installed, outputOf, type Row, readAll } from './sandbox.ts';

const { toEcs, toOcsf } = await import(`${DOCUMENTED}siem.mjs`);

const run = promisify(execFile);
const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const NO_LIMITS = { PLUMBLINE_REQUESTS_PER_KEY: '100000', PLUMBLINE_REQUESTS_PER_IP: '100000' };

/** Beside the sandbox's records: what reporters may send besides, as the contract allows it. */
const ODD = {
  source_ip: null,
  count: 0,
  policy_evaluated: {
    disposition: 'none?',
    dkim: null,
    spf: null,
    reasons: [{ type: 'forwarded', comment: null }],
  },
  identifiers: { header_from: 'no domain', envelope_from: '<>', envelope_to: null },
  auth_results: {
    dkim: [],
    spf: [{ domain: null, scope: null, result: null, human_result: null }],
  },
  omitted: 0,
};

/** Every record of the sandbox, with its report and its domain. */
async function readRecords(sandbox: Awaited<ReturnType<typeof aSandbox>>) {
  const domains = await readAll('domains', sandbox);
  const records = [];
  for (const report of await readAll('reports', sandbox)) {
    const domain = domains.find(({ id }) => id === report['domain_id']);
    const path = `domains/${report['domain_id']}/reports/${report['id']}/records`;
    const own = await readAll(path, sandbox);
    for (const [index, record] of own.entries()) records.push({ domain, report, record, index });
  }
  const [first] = records;
  const report = { ...first?.report, reporter_org: null, reporter_email: null };
  records.push({ ...first, report, record: ODD, index: 0 });
  return records;
}

test('every record is a valid event of OCSF 1.8.0', async () => {
  const sandbox = await aSandbox(NO_LIMITS);
  const python = join(await installed('ocsf'), 'python');
  const events = (await readRecords(sandbox)).map(toOcsf) as Row[];
  const messages = events.reduce((sum, event) => sum + Number(event['count']), 0);
  const reports = await readAll('reports', sandbox);
  expect(messages).toBe(reports.reduce((sum, report) => sum + Number(report['total_messages']), 0));
  expect(new Set(events.map(({ metadata }) => (metadata as Row)['uid'])).size).toBe(
    events.length - 1,
  );
  writeFileSync(join(sandbox.folder, 'events.json'), JSON.stringify(events));
  const checked = await outputOf([python, toPath('./ocsf-valid.py'), 'events.json'], sandbox);
  expect(checked).toBe(`${events.length} events, 0 errors\n`);
});

/** The package has TypeScript's types and no schema. A literal that `satisfies` a type has no field that the type lacks. */
test('every record is a valid event of ECS 9.4.0', async () => {
  const sandbox = await aSandbox(NO_LIMITS);
  const events = (await readRecords(sandbox)).map(toEcs);
  await run('npm', ['ci', '--ignore-scripts'], { cwd: toPath('./ecs') });
  cpSync(toPath('./ecs'), sandbox.folder, { recursive: true });
  expect(await compile(sandbox.folder, events)).toBe('');
  const [first] = events as Row[];
  expect(await compile(sandbox.folder, [{ ...first, sauce: {} }])).toMatch(
    /sauce.* does not exist/,
  );
  expect(await compile(sandbox.folder, [{ ...first, source: { ip: 7 } }])).toMatch(/TS2322/);
});

/** What TypeScript says of the events as values of the type. */
async function compile(folder: string, events: readonly unknown[]): Promise<string> {
  const literals = events.map((event) => `check(${JSON.stringify(event)});`).join('\n');
  const text =
    `import type { Ecs } from '@elastic/ecs';\n` +
    `function check(_event: Ecs & { readonly dmarc: object }): void {}\n${literals}\n`;
  writeFileSync(join(folder, 'events.ts'), text);
  const tsc = toPath('../../node_modules/typescript-native/bin/tsc');
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', 'events.ts'];
  const { stdout } = await run(process.execPath, [tsc, ...options], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}
