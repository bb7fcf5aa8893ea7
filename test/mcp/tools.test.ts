import { beforeEach, describe, expect, test } from 'vitest';
import { SANDBOX_KEY } from '../../src/domain/sandbox.ts';
import { anAgent } from '../support/agent.ts';
import { serveApi } from '../support/api.ts';
import { aDomain, anAccount, anAlert, aReport, receive, UNKNOWN_ID } from '../support/builders.ts';
import { operations, pathTemplates, toPath } from '../support/contract-document.ts';

const toName = (operationId: string) =>
  operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

async function aReportedDomain() {
  const api = await serveApi();
  const account = await anAccount(api.db);
  const domain = await aDomain(api.db, account.id, { name: 'example.com' });
  const reports = ['1', '2', '3'].map((reportId) => aReport({ domain: 'example.com', reportId }));
  await receive(api.db, reports);
  await anAlert(api.db, { accountId: account.id, domainId: domain.id });
  const agent = await anAgent(api, account.key);
  const get = (path: string) => api.get(`/v1/external/${path}`, account);
  return { api, account, domain, agent, get };
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
      expect(JSON.stringify(outputSchema)).not.toMatch(/"(nullable|example|x-[a-z-]+)":|\$ref/);
    }
  });

  test('have types, bounds and words of the contract', () => {
    const { inputSchema } = given.agent.tools.find(({ name }) => name === 'list_reports') ?? {};
    expect(inputSchema).toMatchObject({
      required: ['domain_id'],
      properties: {
        domain_id: { type: 'string', format: 'uuid' },
        limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      },
    });
  });

  test('each answers what the API answers, valid by its own schema', async () => {
    const { agent, get, domain } = given;
    const { body: reports } = await get(`domains/${domain.id}/reports?limit=1`);
    const values = { domain_id: domain.id, report_id: reports.data[0].id };
    for (const [i, { operationId, parameters }] of operations.entries()) {
      const names = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      const own = Object.entries(values).filter(([name]) => names.includes(name));
      const api = await given.api.get(toPath(pathTemplates[i] ?? '', values), given.account);
      const result = await agent.call(toName(operationId), Object.fromEntries(own));
      expect([api.status, result.isError]).toEqual([200, undefined]);
      expect(result.structuredContent).toEqual(api.body);
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
      expect(JSON.parse(texts[1] ?? '')).toEqual({ cursor: meta['cursor'], next: values });
    }
    expect(new Set(ids).size).toBe(3);
    expect(ids).toHaveLength(3);
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
  const sandboxed = await anAgent(api, SANDBOX_KEY, '/sandbox');
  expect(sandboxed.tools).toEqual(agent.tools);
  const { body } = await sandboxed.call('list_domains');
  const { body: wanted } = await api.send('/sandbox/v1/external/domains', { key: SANDBOX_KEY });
  expect(body).toEqual(wanted);
  await expect(anAgent(api, account.key, '/sandbox')).rejects.toThrow('unauthorized');
  await expect(anAgent(api, SANDBOX_KEY)).rejects.toThrow('unauthorized');
});
