import type { Tool } from '@modelcontextprotocol/server';
import type { Operation } from '../external/contract.ts';
import type { OperationId } from '../external/operation.ts';

/** When another tool answers better, by the tools' own names. */
const ELSEWHERE: Readonly<Record<OperationId, string>> = {
  listOverview: 'For all of one domain use get_domain, for who sends list_sources.',
  listDays: 'For one domain use list_domain_days, for sums of thirty days list_overview.',
  listDomains: 'For figures and what to do use list_overview.',
  getDomain: 'For all domains use list_overview, for who sends list_sources.',
  listDomainDays: 'For all domains use list_days.',
  listDomainTlsDays: 'For what to do about TLS use get_domain.',
  listSources: 'For whose mail it is in sum use get_domain.',
  listReports: 'For reports of all domains use list_account_reports; for figures list_domain_days.',
  listReportRecords: 'For sums over reports use list_sources.',
  listTlsReports: 'For why sessions failed use list_tls_report_failures.',
  listTlsReportFailures: 'For the counts of a report use list_tls_reports.',
  listAccountReports: 'For figures use list_days or list_overview: do not add up reports.',
  getKey: 'For data begin with list_overview.',
  listChanges: 'To answer a question use the lists: this is for keeping a copy.',
  listAlerts: 'For what to do next use list_overview.',
};

/** Without the schema of its result, which would be three quarters of all that an agent reads of tools. */
export function toTool({ operationId, summary, description = '', ...rest }: Operation): Tool {
  const parameters = rest.parameters.filter((one) => one.in !== 'header');
  const properties = parameters.map(({ name, schema, description }) => {
    const { format, ...own } = schema;
    if (name !== 'domain_id') return [name, { ...schema, description }];
    return [name, { ...own, description: `${description} Its name does, too.` }];
  });
  return {
    name: toToolName(operationId),
    ...(summary && { title: summary }),
    description: `${description.replace(/[^.]*`ETag`[^.]*\./g, '')}\n${ELSEWHERE[operationId]}`,
    inputSchema: {
      type: 'object',
      properties: toJsonSchema(Object.fromEntries(properties)),
      required: parameters.filter((one) => one.in === 'path').map(({ name }) => name),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  };
}

const toToolName = (operationId: string) =>
  operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** JSON Schema of OpenAPI 3.0's, without examples. */
const toJsonSchema = (schema: unknown) =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    /^(?:x-.*|examples?)$/.test(key) ? undefined : value,
  );
