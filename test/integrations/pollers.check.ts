import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { aSandbox, DOCUMENTED, installed, outputOf, type Row, readAll } from './sandbox.ts';

type Sandbox = Awaited<ReturnType<typeof aSandbox>>;
type Copied = { readonly stream: string; readonly row: Row };

const LISTS = ['domains', 'reports', 'alerts'];

/** Each runs with the configuration of docs/integrations/, and returns the rows that it has copied. */
const POLLERS: Readonly<Record<string, (sandbox: Sandbox) => Promise<Copied[]>>> = {
  dlt: async (sandbox) => {
    const python = join(await installed('dlt'), 'python');
    await outputOf([python, `${DOCUMENTED}dlt_plumbline.py`], sandbox);
    const script = fileURLToPath(new URL('./dlt-rows.py', import.meta.url));
    return toLines(await outputOf([python, script], sandbox));
  },
  Airbyte: async (sandbox) => {
    const bin = await installed('airbyte');
    const config = { base_url: sandbox.url, api_key: sandbox.key };
    const read = ['read', '--manifest-path', `${DOCUMENTED}airbyte.yaml`];
    const catalog = `${DOCUMENTED}airbyte-catalog.json`;
    const options = ['--config', write(sandbox, 'config', config), '--catalog', catalog];
    const program = join(bin, 'source-declarative-manifest');
    const lines = toLines<AirbyteLine>(await outputOf([program, ...read, ...options], sandbox));
    const records = lines.filter(({ type }) => type === 'RECORD');
    return records.map(({ record }) => ({ stream: record.stream, row: record.data }));
  },
  Singer: async (sandbox) => {
    const bin = await installed('singer');
    const documented = JSON.parse(readFileSync(`${DOCUMENTED}singer.json`, 'utf8'));
    const api_url = `${sandbox.url}/v1/external`;
    const config = { ...documented, api_url, bearer_token: sandbox.key };
    const path = write(sandbox, 'config', config);
    const program = join(bin, 'tap-rest-api-msdk');
    const lines = toLines<SingerLine>(await outputOf([program, '--config', path], sandbox));
    const records = lines.filter(({ type }) => type === 'RECORD');
    return records.map(({ stream, record }) => ({ stream, row: record }));
  },
};

interface AirbyteLine {
  readonly type: string;
  readonly record: { readonly stream: string; readonly data: Row };
}

interface SingerLine {
  readonly type: string;
  readonly stream: string;
  readonly record: Row;
}

test.each(Object.keys(POLLERS))('%s copies every list, and ends', async (name) => {
  const sandbox = await aSandbox();
  const copied = (await POLLERS[name]?.(sandbox)) ?? [];
  for (const list of LISTS) {
    const rows = copied.filter(({ stream }) => stream === list).map(({ row }) => toComparable(row));
    const wanted = (await readAll(list, sandbox)).map(toComparable);
    expect(rows.length, list).toBe(wanted.length);
    expect(sorted(rows), list).toEqual(sorted(wanted));
  }
  if (name === 'Airbyte') await expectWholeFeed(copied, sandbox);
});

/** From `start`, the feed has each listed report and each alert once. */
async function expectWholeFeed(copied: readonly Copied[], sandbox: Sandbox): Promise<void> {
  const items = copied.filter(({ stream }) => stream === 'changes').map(({ row }) => row);
  for (const [list, item] of Object.entries({ reports: 'report', alerts: 'alert' })) {
    const rows = items
      .map((change) => change[item] as Row | undefined)
      .filter((row) => row !== undefined);
    const wanted = await readAll(list, sandbox);
    expect(sorted(rows.map(toComparable)), list).toEqual(sorted(wanted.map(toComparable)));
  }
}

/** A row without what pollers store in their own ways: nulls are left out, and an alert's context becomes columns. */
function toComparable(row: Row): Row {
  const own = Object.entries(row).filter(
    ([name, value]) => value !== null && !/^(_|context)/.test(name),
  );
  return Object.fromEntries(own);
}

const sorted = (rows: readonly Row[]) =>
  rows.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));

const toLines = <Line>(output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

function write({ folder }: Sandbox, name: string, value: unknown): string {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(value));
  return path;
}
