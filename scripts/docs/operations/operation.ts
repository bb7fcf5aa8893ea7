import { toAnchor, toOperationPath } from '../anchors.ts';
import { listAnswers, toExampleTabs, toFirstExample, toFolded } from './answers.ts';
import { type Block, type BlockPage, code, fields, words } from './blocks.ts';
import {
  type Answer,
  type ApiContract,
  type ApiOperation,
  contentOf,
  type Link,
  type listOperations,
  type Parameter,
  resolve,
} from './contract.ts';
import { listFields, toHeaderField, toParameterField, toText } from './fields.ts';
import { listSamples, listSetups, type OperationSample } from './samples.ts';

type Inner = Exclude<Block, { kind: 'beside' }>;
type Listed = ReturnType<typeof listOperations>[number];

/** The page of an operation. */
export function toOperationPage(contract: ApiContract, listed: Listed): BlockPage {
  const { path, method, operation } = listed;
  const { parameters, taken } = readParameters(contract, operation);
  const answer = resolve<Answer>(contract, operation.responses['200'] ?? { $ref: '#/no-200' });
  const headers = Object.entries(answer.headers ?? {}).map(([name, header]) =>
    toHeaderField(contract, resolve(contract, header), { name, anchor: toAnchor([name], taken) }),
  );
  const [tag = ''] = operation.tags;
  const place = `${tag}/${operation.operationId}`.toLowerCase();
  return toPage(operation, toSentence(operation), [
    { kind: 'request', method: method.toUpperCase(), path },
    words(toText(contract, operation.description)),
    {
      kind: 'beside',
      blocks: [...listSampleBlocks(path, operation), ...toExampleTabs(contract, operation)],
    },
    words('## Parameters'),
    fields(parameters.map((parameter) => toParameterField(contract, parameter))),
    words('## Answer', `Status 200. ${toText(contract, answer.description)}`, '### Headers'),
    fields(headers),
    ...listBodyBlocks(contract, answer, taken),
    ...listLinks(contract, answer),
    ...listAnswers(contract, operation),
    words(`[On the page of the whole reference](/docs/reference#/${place})`),
  ]);
}

/** The page of an event that webhooks are sent. */
export function toWebhookPage(contract: ApiContract, listed: Listed): BlockPage {
  const { path: event, operation } = listed;
  const { parameters, taken } = readParameters(contract, operation);
  const answers = Object.entries(operation.responses).map(
    ([status, answer]) => `- \`${status}\`: ${resolve(contract, answer).description}`,
  );
  return toPage(operation, `${operation.summary}. ${toSentence(operation)}`, [
    words(
      `The event \`${event}\`, sent to your endpoint as a \`POST\`.`,
      toText(contract, operation.description),
      '[Webhooks](/docs/webhooks) has programs that verify a delivery and answer it.',
    ),
    { kind: 'beside', blocks: toFirstExample('Delivery', operation.requestBody ?? {}) },
    words('## Headers of the delivery'),
    fields(parameters.map((parameter) => toParameterField(contract, parameter))),
    words('## Body of the delivery'),
    ...listBodyBlocks(contract, operation.requestBody ?? {}, taken),
    words('## Your answer', answers.join('\n')),
  ]);
}

function toPage(
  { operationId, summary }: ApiOperation,
  description: string,
  blocks: readonly Block[],
): BlockPage {
  const end = `In [the contract](/docs/v1.yaml) this is \`${operationId}\`. [All operations](/docs/operations)`;
  return {
    slug: toOperationPath(operationId),
    title: summary,
    description,
    blocks: [words(`# ${summary}`), ...blocks, words(end)],
  };
}

/** The first sentence of a description, as plain text. */
function toSentence({ description }: ApiOperation): string {
  const text = description.replaceAll('`', '').replaceAll('\n', ' ').trim();
  return text.split(/(?<=\.) /)[0] ?? text;
}

function readParameters(contract: ApiContract, operation: ApiOperation) {
  const parameters = operation.parameters.map((node) => resolve<Parameter>(contract, node));
  return { parameters, taken: new Set(parameters.map(({ name }) => name)) };
}

function listSampleBlocks(path: string, { operationId }: ApiOperation): Inner[] {
  return [
    words('## Request', toTabs(listSamples(path, operationId))),
    {
      kind: 'folded',
      title: 'What comes before in TypeScript, Python and Go: the client',
      text: `${toTabs(listSetups())}\n\nAll programs read the variables of the shell. Their clients are generated: [generated clients](/docs/clients) says how.`,
    },
  ];
}

/** Blocks that follow one another become tabs. */
function toTabs(samples: readonly OperationSample[]): string {
  return samples.map(({ language, source }) => code(language, source)).join('\n\n');
}

function listBodyBlocks(
  contract: ApiContract,
  body: Parameters<typeof contentOf>[0],
  taken: ReadonlySet<string>,
): Block[] {
  const content = contentOf(body);
  if (content === undefined) return [];
  const { description = '' } = resolve(contract, content.schema);
  return [
    words('### Fields', toText(contract, description)),
    fields(listFields(contract, content.schema, taken)),
    ...toFolded(Object.values(content.examples).slice(1)),
  ];
}

/** What a client asks for next. */
function listLinks(contract: ApiContract, { links = {} }: Answer): Block[] {
  const lines = Object.values(links).map((node) => {
    const { operationId, description } = resolve<Link>(contract, node);
    return `- [\`${operationId}\`](/docs/${toOperationPath(operationId)}): ${description}`;
  });
  return lines.length === 0 ? [] : [words('### What follows', lines.join('\n'))];
}
