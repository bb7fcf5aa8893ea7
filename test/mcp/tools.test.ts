import { beforeEach, describe, expect, test } from 'vitest';
import { SANDBOX_KEY } from '../../src/domain/sandbox.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { anAgent } from '../support/agent.ts';
import { serveApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aRecord,
  aReport,
  aReportOf,
  receive,
  UNKNOWN_ID,
} from '../support/builders.ts';
import { operations, pathTemplates, toPath } from '../support/contract-document.ts';
import { aReadTlsReport } from '../support/tls-report.ts';

const toName = (operationId: string) =>
  operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

async function aReportedDomain() {
  const api = await serveApi();
  const account = await anAccount(api.db);
  const domain = await aDomain(api.db, account.id, { name: 'example.com' });
  const reports = ['1', '2', '3'].map((reportId) => aReport({ domain: 'example.com', reportId }));
  await receive(api.db, [...reports, aReadTlsReport()]);
  await anAlert(api.db, { accountId: account.id, domainId: domain.id });
  const agent = await anAgent(api, account.key);
  const get = (path: string) => api.get(`/v1/external/${path}`, account);
  return { api, account, domain, agent, get };
}

interface Reported {
  readonly id: string;
  readonly records?: readonly unknown[];
}

let given: Awaited<ReturnType<typeof aReportedDomain>>;
beforeEach(async () => {
  given = await aReportedDomain();
});

describe('the tools', () => {
  test('are the operations of the contract, with their parameters, and read only', () => {
    const wanted = operations.map(({ operationId, parameters }) => [
      toName(operationId),
      parameters.filter((one) => one.in !== 'header').map(({ name }) => name),
    ]);
    const { tools } = given.agent;
    const found = tools.map(({ name, inputSchema }) => [
      name,
      Object.keys(inputSchema.properties ?? {}),
    ]);
    expect(found.toSorted()).toEqual(wanted.toSorted());
    for (const { annotations, description, inputSchema, outputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
      expect(description).toMatch(/\w{3}/);
      expect(description).not.toContain('ETag');
      expect(inputSchema['additionalProperties']).toBe(false);
      expect(JSON.stringify(inputSchema)).not.toMatch(/"(example|x-[a-z-]+)":|\$ref/);
      expect(outputSchema).toBeUndefined();
    }
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(30_000);
  });

  test('have types, bounds and words of the contract', () => {
    const { inputSchema } = given.agent.tools.find(({ name }) => name === 'list_reports') ?? {};
    expect(inputSchema).toMatchObject({
      required: ['domain_id'],
      properties: {
        domain_id: { type: 'string' },
        limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      },
    });
  });

  test('each answers what the API answers', async () => {
    const { agent, get, domain } = given;
    const { body: reports } = await get(`domains/${domain.id}/reports?limit=1`);
    const { body: tls } = await get(`domains/${domain.id}/tls-reports?limit=1`);
    const values = {
      ...{ domain_id: domain.id, report_id: reports.data[0].id },
      tls_report_id: tls.data[0].id,
    };
    for (const [i, { operationId, parameters }] of operations.entries()) {
      const names = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      const own = Object.entries(values).filter(([name]) => names.includes(name));
      const api = await given.api.get(toPath(pathTemplates[i] ?? '', values), given.account);
      const result = await agent.call(toName(operationId), Object.fromEntries(own));
      expect([api.status, result.isError]).toEqual([200, undefined]);
      expect(result.texts[0]).toBe(api.text);
      expect(result.meta['cursor']).toBe(api.headers['plumbline-cursor']);
    }
  });

  test('the next page is the call with the arguments that a result names', async () => {
    const { agent, domain } = given;
    const ids: string[] = [];
    let values: Record<string, unknown> | undefined = { domain_id: domain.id, limit: 2 };
    while (values !== undefined) {
      const { body, meta, texts } = await agent.call('list_reports', values);
      ids.push(...body.data.map(({ id }: { id: string }) => id));
      values = meta['next'] as typeof values;
      const left = 3 - ids.length;
      expect(JSON.parse(texts[1] ?? '')).toEqual({
        cursor: meta['cursor'],
        ...(left > 0 && { left, next: values }),
      });
    }
    expect(new Set(ids).size).toBe(3);
    expect(ids).toHaveLength(3);
  });

  test('take the name of a domain, active or paused, where the API takes its id', async () => {
    const { agent, api, domain } = given;
    const tools = agent.tools.filter(({ inputSchema }) => inputSchema.properties?.['domain_id']);
    expect(tools.length).toBeGreaterThan(5);
    const { body } = await agent.call('list_reports', { domain_id: 'Example.com' });
    const tls = (await agent.call('list_tls_reports', { domain_id: 'Example.com' })).body;
    const more = {
      list_report_records: { report_id: body.data[0].id },
      list_tls_report_failures: { tls_report_id: tls.data[0].id },
    };
    await updateDomainStatus(api.db, domain.id, 'paused');
    for (const { name } of tools) {
      const others = more[name as keyof typeof more];
      const named = await agent.call(name, { domain_id: 'EXAMPLE.com', ...others });
      expect(named.isError, name).toBeUndefined();
      const known = await agent.call(name, { domain_id: domain.id, ...others });
      expect(named.texts).toEqual(known.texts);
    }
  });

  test('a page ends at 40 kB, says how many are left, and the next ones have them', async () => {
    const { agent, api, domain } = given;
    const addresses = Array.from({ length: 300 }, (_, i) => `2001:db8::${i + 1}`);
    await receive(api.db, [
      aReportOf(
        addresses.map((sourceIp, i) => aRecord({ sourceIp, count: i + 1 })),
        { domain: 'example.com', begin: '2026-03-14T00:00:00Z' },
      ),
    ]);
    const range = { from: '2026-03-14', until: '2026-03-14', limit: 200 };
    let values: Record<string, unknown> | undefined = { domain_id: domain.id, ...range };
    const [found, sizes]: [string[], number[]] = [[], []];
    while (values !== undefined) {
      const { body, meta, texts } = await agent.call('list_sources', values);
      found.push(...body.data.map((one: { source_ip: string }) => one.source_ip));
      sizes.push(Buffer.byteLength(texts[0] ?? ''));
      values = meta['next'] as typeof values;
      expect(meta['left'] ?? 0).toBe(body.total - found.length);
      if (values) expect(values).toMatchObject(range);
    }
    expect(new Set(found).size).toBe(found.length);
    expect(new Set(found)).toEqual(new Set(found).union(new Set(addresses)));
    expect(sizes.length).toBeGreaterThan(2);
    for (const size of sizes) expect(size).toBeLessThanOrEqual(40_000);
  });

  test('the feed with records ends at 40 kB, too: a report that is larger comes without them', async () => {
    const { agent, api } = given;
    const records = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        aRecord({ sourceIp: `192.0.2.${i % 250}`, count: i + 1 }),
      );
    for (const count of [40, 40, 400, 40, 40])
      await receive(api.db, [aReportOf(records(count), { domain: 'example.com' })]);
    const notes = new Map<string, unknown>();
    let [values, pages]: [Record<string, unknown> | undefined, number] = [
      { include: 'records', limit: 1_000 },
      0,
    ];
    while (values !== undefined) {
      const { body, meta, texts } = await agent.call('list_changes', values);
      expect(Buffer.byteLength(texts[0] ?? '')).toBeLessThanOrEqual(40_000);
      const reports = body.data.flatMap(({ report }: { report?: Reported }) => report ?? []);
      for (const { id, records: own } of reports as Reported[]) notes.set(id, own ?? meta['note']);
      const next = { include: 'records', limit: 1_000, after: meta['cursor'] };
      expect(meta['next']).toEqual(body.has_more ? next : undefined);
      values = meta['next'] as typeof values;
      pages += 1;
    }
    expect(notes.size).toBe(8);
    expect([...notes.values()].filter((note) => typeof note === 'string')).toEqual([
      expect.stringContaining('40 kB'),
    ]);
    expect(pages).toBe(3);
  });

  test('a cursor selects what came since', async () => {
    const { agent, api } = given;
    const { meta } = await agent.call('list_changes');
    const after = meta['cursor'];
    expect((await agent.call('list_changes', { after })).body.data).toEqual([]);
    await receive(api.db, [aReport({ domain: 'example.com', reportId: 'late' })]);
    const { body } = await agent.call('list_changes', { after });
    expect(body.data).toMatchObject([{ type: 'report.stored' }]);
  });
});

describe('an error of the API is a result with its code, message and status', () => {
  test.each([
    ['another domain', 'get_domain', { domain_id: UNKNOWN_ID }, 404, 'not_found'],
    ['no UUID', 'get_domain', { domain_id: '../key' }, 422, '"domain_id" must be a UUID'],
    ['no path parameter', 'get_domain', {}, 422, '"domain_id" must be a UUID'],
    ['a number too large', 'list_domains', { limit: 201 }, 422, 'from 1 to 200'],
    ['a fraction', 'list_domains', { limit: 1.5 }, 422, '"limit" must be'],
    ['text for a number', 'list_domains', { limit: '5' }, 422, '"limit" must be'],
    ['a number for text', 'list_domains', { name: 5 }, 422, '"name" must be'],
    ['a list for text', 'list_domains', { name: ['a.example'] }, 422, '"name" must be'],
    ['null', 'list_domains', { limit: null }, 422, '"limit" must be'],
    ['an object', 'list_domains', { offset: {} }, 422, '"offset" must be'],
    ['no value of the enumeration', 'list_overview', { order: 'x' }, 422, 'urgency, domain'],
    ['a name of another tool', 'list_domains', { after: 'start' }, 422, 'no parameter'],
    ['an unknown name', 'list_domains', { max: 5 }, 422, '"max" is no parameter'],
    ['a header', 'list_domains', { 'If-None-Match': '*' }, 422, 'no parameter'],
    ['a name that nobody has', 'get_domain', { domain_id: 'a.example' }, 404, 'not_found'],
    ['names below another', 'get_domain', { domain_id: '*.com' }, 422, 'must be a UUID'],
    ['a name of every object', 'list_domains', { constructor: 'x' }, 422, 'no parameter'],
    ['no cursor', 'list_changes', { after: 'yesterday' }, 422, '"after" must be'],
  ])('%s', async (_what, name, values, status, part) => {
    const result = await given.agent.call(name, values);
    expect([result.isError, result.meta['status']]).toEqual([true, status]);
    expect(JSON.stringify(result.body.error)).toContain(JSON.stringify(part).slice(1, -1));
    expect(result.structuredContent).toBeUndefined();
  });
});

test('a tool call has one line in the log, with the tool and the status of its operation', async () => {
  const { api, agent, account } = given;
  await agent.call('get_domain', { domain_id: UNKNOWN_ID });
  await agent.call('list_domains');
  const lines = api.logged.filter(({ tool }) => tool !== undefined);
  expect(lines).toMatchObject([
    { tool: 'get_domain', status: 404, path: '/mcp', account_id: account.id },
    { tool: 'list_domains', status: 200, key: account.key.slice(0, 13) },
  ]);
});

test('the sandbox has the same tools, for its own key alone', async () => {
  const { api, account, agent } = given;
  const ask = () => api.send('/sandbox/v1/external/domains', { key: SANDBOX_KEY });
  // A request waits thirty seconds for the data, which a busy machine makes more slowly.
  await expect.poll(async () => (await ask()).status).toBe(200);
  const sandboxed = await anAgent(api, SANDBOX_KEY, '/sandbox');
  expect(sandboxed.tools).toEqual(agent.tools);
  const { body } = await sandboxed.call('list_domains');
  const { body: wanted } = await ask();
  expect(body).toEqual(wanted);
  await expect(anAgent(api, account.key, '/sandbox')).rejects.toThrow('401');
  await expect(anAgent(api, SANDBOX_KEY)).rejects.toThrow('401');
});
