import { toAnchor } from '../anchors.ts';
import { type Block, code, fields, words } from './blocks.ts';
import {
  type Answer,
  type ApiContract,
  type ApiOperation,
  contentOf,
  type Example,
  type Header,
  type Parameter,
  resolve,
} from './contract.ts';
import { listFields, toHeaderField, toText } from './fields.ts';

type NamedHeader = readonly [name: string, header: Header];

/** An answer, with its headers resolved: those of one component are one object. */
interface Other {
  readonly status: string;
  readonly answer: Answer;
  readonly headers: readonly NamedHeader[];
}

/** Every answer but the 200: its code, its description, and the headers that only it has. */
export function listAnswers(contract: ApiContract, operation: ApiOperation): Block[] {
  const answers = listResolved(contract, operation);
  const others = answers.filter(({ status }) => status !== '200');
  const errors = others.filter(({ status }) => Number(status) >= 400);
  const usual = new Set(
    answers
      .filter(({ status }) => status === '200')
      .flatMap(({ headers }) => headers.map(toHeader)),
  );
  const common = (errors[0]?.headers ?? []).filter(
    ([, header]) => !usual.has(header) && errors.every((error) => error.headers.some(isOf(header))),
  );
  const headers = new Set([...usual, ...common.map(toHeader)]);
  return [
    words('## Other answers'),
    ...others.flatMap((other) => toAnswerBlocks(contract, other, headers)),
    words('### What all errors have'),
    fields(listErrorFields(contract, errors, common)),
  ];
}

/** An example of each answer that has a body, by status. */
export function toExampleTabs(contract: ApiContract, operation: ApiOperation) {
  const parameters = operation.parameters.map((node) => resolve<Parameter>(contract, node));
  const tabs = listResolved(contract, operation).flatMap(({ status, answer }) => {
    const examples = Object.values(contentOf(answer)?.examples ?? {});
    const example =
      (status === '200' ? undefined : examples.find(({ value }) => isAbout(value, parameters))) ??
      examples[0];
    return example === undefined ? [] : [{ label: status, text: toJson(example.value) }];
  });
  return [words('## Answers'), { kind: 'tabs', legend: 'Status', tabs } as const];
}

export function toFirstExample(title: string, body: Parameters<typeof contentOf>[0]) {
  const [example] = Object.values(contentOf(body)?.examples ?? {});
  return example === undefined ? [] : [words(`## ${title}`, toJson(example.value))];
}

/** The first example is beside the page; the others are folded. */
export function toFolded(examples: readonly Example[]): Block[] {
  return examples.map(({ summary, value }) => {
    const title = summary === undefined ? 'Example' : `Example: ${summary}`;
    return { kind: 'folded', title, text: toJson(value) };
  });
}

function listResolved(contract: ApiContract, { responses }: ApiOperation): Other[] {
  return Object.entries(responses).map(([status, node]) => {
    const answer = resolve<Answer>(contract, node);
    const headers = Object.entries(answer.headers ?? {}).map(
      ([name, header]): NamedHeader => [name, resolve(contract, header)],
    );
    return { status, answer, headers };
  });
}

/** `known` are the headers that are described elsewhere on the page. */
function toAnswerBlocks(contract: ApiContract, other: Other, known: ReadonlySet<Header>): Block[] {
  const { status, answer, headers } = other;
  const examples = Object.values(contentOf(answer)?.examples ?? {});
  const codes = new Set(examples.map(({ value }) => `\`${toError(value).code}\``));
  const names = headers.map(([name]) => `\`${name}\``).join(', ');
  const own = headers.filter(([, header]) => !known.has(header));
  return [
    words(
      `### ${[status, ...codes].join(' ')}`,
      toText(contract, answer.description),
      `Headers: ${names}.`,
    ),
    fields(own.map((header) => toField(contract, status, header))),
  ];
}

/** The body, which is the same of all errors, and the headers that only errors have. */
function listErrorFields(
  contract: ApiContract,
  errors: readonly Other[],
  common: readonly NamedHeader[],
) {
  const [schema] = errors.flatMap(({ answer }) => contentOf(answer)?.schema ?? []);
  const body = schema === undefined ? [] : listFields(contract, schema, new Set());
  return [...body, ...common.map((header) => toField(contract, 'errors', header))];
}

function toField(contract: ApiContract, place: string, [name, header]: NamedHeader) {
  return toHeaderField(contract, header, { name, anchor: toAnchor([place, name]) });
}

function toHeader([, header]: NamedHeader): Header {
  return header;
}

function isOf(wanted: Header) {
  return ([, header]: NamedHeader) => header === wanted;
}

/** Whether an error names a parameter of this operation, with the bounds that it has here. */
function isAbout(value: unknown, parameters: readonly Parameter[]): boolean {
  const { message } = toError(value);
  return parameters.some(({ name, schema }) => {
    const bounds = schema.enum?.join(', ') ?? schema.maximum ?? '';
    return message.startsWith(`"${name}"`) && message.includes(`${bounds}`);
  });
}

function toError(value: unknown) {
  return (value as { error: { code: string; message: string } }).error;
}

function toJson(value: unknown): string {
  return code('json', JSON.stringify(value, null, 2));
}
