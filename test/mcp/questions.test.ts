import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DEMO_NETWORKS, ingestDemo, insertDemoAccount } from '../../src/demo/demo-data.ts';
import { formatCount, formatDay, formatPassRate, pluralize } from '../../src/domain/text.ts';
import { anAgent } from '../support/agent.ts';
import { type Api, startApi } from '../support/api.ts';
import { openTestStore } from '../support/store.ts';
import { aVisitor, type Browser, toReadable } from '../support/visitor.ts';

/*
 * An agent answers what the owner of the demo's domains asks, with at most three calls and 60 kB for each question, and its
 * answer is what the pages of the settings show.
 */

const TODAY = new Date('2026-03-15T12:00:00Z');
const YESTERDAY = '2026-03-14';

type Call = (name: string, values?: object) => Promise<Row>;
// biome-ignore lint/suspicious/noExplicitAny: the client has held them to the tools' schemas.
type Row = any;

let api: Api;
let browser: Browser;
let key: string;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  vi.setSystemTime(TODAY);
  const store = await openTestStore();
  const account = await insertDemoAccount(store.db, TODAY);
  await ingestDemo(store, account, TODAY);
  api = await startApi({ store, ipDatabase: DEMO_NETWORKS });
  ({ key } = account);
  ({ browser } = await aVisitor(api, account.account_id));
});
afterAll(async () => {
  await api.close();
  vi.useRealTimers();
});

const readPage = async (path: string) => toReadable((await browser.get(`/settings/${path}`)).text);

/** The answer of an agent that has asked at most three times. */
async function ask<Answer>(answer: (call: Call) => Promise<Answer>): Promise<Answer> {
  const agent = await anAgent(api, key);
  const found = await answer(async (name, values = {}) => {
    const { body, isError } = await agent.call(name, { ...values });
    expect(isError, JSON.stringify(body)).toBeUndefined();
    return body;
  });
  expect(agent.countCalls()).toBeLessThanOrEqual(3);
  expect(agent.countBytes()).toBeLessThan(60_000);
  return found;
}

/** The domain with the range of days that its page shows. */
async function findDomain(call: Call, name: string): Promise<{ id: string; range: object }> {
  const { id, figures } = (await call('get_domain', { domain_id: name })).data;
  return { id, range: { from: figures.from, until: figures.until } };
}

const listSources = async (call: Call, name: string) => {
  const { id, range } = await findDomain(call, name);
  const values = { domain_id: id, ...range };
  const { data, total } = await call('list_sources', { ...values, limit: 200 });
  if (total > 200)
    data.push(...(await call('list_sources', { ...values, limit: 200, offset: 200 })).data);
  return { id, data: data as readonly Row[] };
};

/** By sender, as the page of the sources has them: messages, passed, failed. */
function addUp(sources: readonly Row[]) {
  return [...Map.groupBy(sources, ({ sender }) => sender)].map(([sender, rows]) => {
    const add = (name: string) => rows.reduce((sum, row) => sum + row[name], 0);
    const [messages, aligned] = [add('total_messages'), add('aligned_messages')];
    const figures = [messages, aligned, messages - aligned].map(formatCount).join(' ');
    return { sender, verdict: rows[0].verdict as string, figures };
  });
}

const VERDICTS: Readonly<Record<string, string>> = {
  yours: 'Yours',
  needs_setup: 'Needs set-up',
  passed_on: 'Passed on',
  not_recognised: 'Not recognised',
  forged: 'Forged',
};

describe('an agent answers', () => {
  test('which of my domains need me first, and why', async () => {
    const overview = await ask(async (call) => (await call('list_overview')).data as Row[]);
    const { text } = await browser.get('/settings/overview');
    const table = text.slice(text.lastIndexOf('<table'));
    const shown = [...table.matchAll(/href="\/settings\/domains\/([0-9a-f-]{36})"/g)];
    expect(overview.map(({ id }) => id)).toEqual([...new Set(shown.map(([, id]) => id))]);
    const page = await readPage('overview');
    for (const { next_step, domain } of overview) expect(page).toContain(next_step.text || domain);
  });

  test('did anything change since yesterday', async () => {
    const { alerts, days } = await ask(async (call) => ({
      alerts: (await call('list_alerts', { fired_from: `${YESTERDAY}T00:00:00Z` })).data as Row[],
      days: (await call('list_days', { from: YESTERDAY, until: YESTERDAY })).data as Row[],
    }));
    const page = await readPage(`alerts?from=${YESTERDAY}`);
    expect(page.match(/ points, from /g)).toHaveLength(alerts.length);
    for (const { context } of alerts) expect(page).toContain(`fell by ${context.drop_pct} points`);
    expect(days).toHaveLength(5);
    for (const { domain_id, ...day } of days)
      expect(await readPage(`domains/${domain_id}`)).toContain(toDayRow(day));
  });

  test('who sends in the name of example.com, and which are mine', async () => {
    const { id, data } = await ask((call) => listSources(call, 'example.com'));
    const page = await readPage(`domains/${id}/sources`);
    const senders = addUp(data);
    expect(page).toContain(` ${senders.length} senders `);
    expect(senders.filter(({ verdict }) => verdict === 'yours')).toHaveLength(4);
    for (const { sender, verdict, figures } of senders) {
      expect(page).toContain(`${sender} ${VERDICTS[verdict]}`);
      expect(page).toContain(figures);
    }
  });

  test('whose mail is failing, and what do I do about it', async () => {
    const { data, id, step } = await ask(async (call) => {
      const { data: domain } = await call('get_domain', { domain_id: 'shop.example' });
      const { from, until } = domain.figures;
      // Of scattered addresses, no agent has to read each.
      const values = { domain_id: 'shop.example', from, until, failing: 'true' };
      const { data } = await call('list_sources', { ...values, verdict: 'needs_setup' });
      return { data, id: domain.id as string, step: domain.next_step.text as string };
    });
    const page = await readPage(`domains/${id}/sources?failing=1`);
    const senders = addUp(data);
    expect(senders.map(({ sender }) => sender)).toContain('Plain Invoices');
    for (const { figures } of senders) expect(page).toContain(figures);
    expect(await readPage(`domains/${id}`)).toContain(step);
  });

  test('can I go to a stronger policy, and what stands in the way', async () => {
    const { id, readiness, mail } = await ask(async (call) => {
      return (await call('get_domain', { domain_id: 'shop.example' })).data;
    });
    expect([readiness.answer, readiness.target]).toEqual(['not_yet', 'quarantine']);
    const page = await readPage(`domains/${id}`);
    expect(page).toMatch(/Can I go to p=\w+\? Not yet\./);
    const said: Readonly<Record<string, string>> = {
      own: 'of yours failed',
      undecided: 'failed, and nobody has said',
    };
    for (const { code, messages, sources } of readiness.reasons)
      expect(page).toMatch(
        new RegExp(`${formatCount(messages)} messages from ${sources} sources? ${said[code]}`),
      );
    for (const { total_messages, aligned_messages, sources } of mail) {
      const figures = `${formatCount(total_messages)} ${inColumn(total_messages, aligned_messages)}`;
      if (total_messages > 0) expect(page).toContain(`${pluralize(sources, 'source')} ${figures}`);
    }
  });

  test('what are my open alerts, and what do they mean', async () => {
    const { alerts, names } = await ask(async (call) => ({
      alerts: (await call('list_alerts', { state: 'open' })).data as Row[],
      names: new Map((await call('list_domains')).data.map(({ id, domain }: Row) => [id, domain])),
    }));
    const page = await readPage('alerts?state=open');
    expect(page.match(/ points, from /g)).toHaveLength(alerts.length);
    for (const { domain_id, context } of alerts) {
      const { drop_pct, prev_pass_rate, curr_pass_rate, failed_count, message_count, day, cause } =
        context;
      expect(page).toContain(
        `fell by ${drop_pct} points, from ${prev_pass_rate}% to ${curr_pass_rate}%. ${failed_count} of ${message_count} messages failed on ${formatDay(day)}`,
      );
      expect(page).toContain(
        `${cause.service} stopped signing correctly on ${formatDay(day)} (selector ${cause.selector})`,
      );
      expect(page).toContain(`${names.get(domain_id)}`);
    }
  });

  test('how did the pass rate of a domain go over thirty days', async () => {
    const { id, days } = await ask(async (call) => {
      const found = await findDomain(call, 'example.com');
      const { data } = await call('list_domain_days', { domain_id: found.id, ...found.range });
      return { id: found.id, days: data as Row[] };
    });
    expect(days).toHaveLength(30);
    const page = await readPage(`domains/${id}`);
    for (const day of days) expect(page).toContain(toDayRow(day));
  });

  test('is 203.0.113.201 ours or a forger, and who reports it', async () => {
    const address = '203.0.113.201';
    const { source, reports, records } = await ask(async (call) => {
      const range = { from: '2026-02-13', until: YESTERDAY };
      const asked = { domain_id: 'example.com', ...range, address };
      const { data } = await call('list_sources', asked);
      const { first_day: from, last_day: until } = data[0];
      const values = { domain_id: 'example.com', from, until };
      const reports = (await call('list_reports', values)).data as Row[];
      const report = { domain_id: 'example.com', report_id: reports[0].id };
      const records = (await call('list_report_records', report)).data as Row[];
      return { source: data[0], reports, records };
    });
    const { body } = await api.get('/v1/external/domains?name=example.com', { key });
    const [{ id }] = body.data;
    expect(records.map(({ source_ip }) => source_ip)).toContain(address);
    const page = await readPage(`domains/${id}/sources/${address}`);
    expect(page).toContain(`${source.sender} ${VERDICTS[source.verdict]}`);
    expect(page).toContain(
      `${formatCount(source.total_messages)} messages, ${formatCount(source.total_messages - source.aligned_messages)} failed`,
    );
    expect(page).toContain(
      `first seen on ${formatDay(source.first_day)}, last on ${formatDay(source.last_day)}`,
    );
    const toName = ({ reporter_org, reporter_email }: Row) =>
      reporter_org ?? reporter_email.split('@')[1];
    const reporters = new Set(reports.map(toName));
    expect(reporters.size).toBe(4);
    const table = page.slice(page.indexOf('Reporter Messages Failed'));
    for (const name of reporters) expect(table).toContain(name);
  });
});

/** The rate as columns have it. */
function inColumn(messages: number, aligned: number): string {
  return `${Number(formatPassRate({ messages, aligned }).slice(0, -1)).toFixed(2)}%`;
}

/** As the table of a domain's page has it. */
function toDayRow({ day, total_messages: messages, aligned_messages: aligned }: Row): string {
  const figures = [messages, messages - aligned].map(formatCount).join(' ');
  return `${formatDay(day)} ${figures} ${inColumn(messages, aligned)}`;
}
