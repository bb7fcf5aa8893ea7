import { parseDomainName } from '../domain/domain-name.ts';
import { Failure } from '../domain/failure.ts';
import type { Agents } from '../external/api.ts';
import type { Operation } from '../external/contract.ts';

/** The agents of an API, and what opens the answers to a request that was admitted. */
export interface Admitted {
  readonly agents: Agents;
  readonly open: Awaited<ReturnType<Agents['admit']>>;
}

type Values = Readonly<Record<string, unknown>>;

/** What fits into an agent's context beside other answers. */
const MAX_BYTES = 40_000;
/** Of these, what a page has besides its items. */
const ENVELOPE_BYTES = 500;
const NO_RECORDS =
  'With its records the report has over 40 kB, so they are left out: list_report_records has them.';

export const toTextContent = (text: string) => ({ type: 'text', text }) as const;

/** A page as a tool's result: its JSON, and what is not in it. Throws `Failure`. */
export async function readResult(admitted: Admitted, operation: Operation, named: Values) {
  const values = await withId(admitted, operation, named);
  const { json, next, ...rest } = await readFitting(admitted, operation, values);
  const { data, total } = JSON.parse(json);
  const left = total - Number(values['offset'] ?? 0) - data.length;
  const { limit, include } = values;
  const others = {
    ...rest,
    // A page that was cut is no reason to ask for less.
    ...(next && { ...(left > 0 && { left }), next: { ...next, limit, include } }),
  };
  const texts = [json, JSON.stringify(others)].filter((text) => text !== '{}');
  return { content: texts.map(toTextContent), _meta: { status: 200, ...others } };
}

/** With the domain's id where its name is given. */
async function withId(admitted: Admitted, operation: Operation, values: Values): Promise<Values> {
  const { domain_id: name } = values;
  const isOwn = operation.parameters.some((one) => one.name === 'domain_id');
  if (!isOwn || typeof name !== 'string' || parseDomainName(name) === undefined) return values;
  const { operations } = admitted.agents;
  const list = operations.find(({ operationId }) => operationId === 'listDomains') as Operation;
  const { json } = await readPage(admitted, list, { name, status: 'all' });
  const [domain] = JSON.parse(json).data;
  if (domain === undefined) throw new Failure('not_found', 'No such domain.');
  return { ...values, domain_id: domain.id };
}

/** A page that is too large is read again with as many items as fit: so its cursor and the next page are right. */
async function readFitting(
  admitted: Admitted,
  operation: Operation,
  values: Values,
): Promise<Awaited<ReturnType<typeof readPage>> & { readonly note?: string }> {
  const page = await readPage(admitted, operation, values);
  const { data } = JSON.parse(page.json);
  if (Buffer.byteLength(page.json) <= MAX_BYTES || !Array.isArray(data)) return page;
  const limit = countFitting(data);
  if (limit > 0) return await readFitting(admitted, operation, { ...values, limit });
  const { include, ...others } = values;
  if (include === undefined && data.length === 1) return page;
  const alone = await readFitting(admitted, operation, { ...others, limit: 1 });
  return include === undefined ? alone : { ...alone, note: NO_RECORDS };
}

/** Always fewer. */
function countFitting(items: readonly unknown[]): number {
  let bytes = ENVELOPE_BYTES;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return bytes > MAX_BYTES;
  });
  return end === -1 ? items.length - 1 : end;
}

async function readPage({ agents, open }: Admitted, operation: Operation, values: Values) {
  const request = agents.toRequest(operation, values);
  return await agents.readList(request, await open(request));
}
