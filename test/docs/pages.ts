import { readFileSync } from 'node:fs';
import { marked, type Token, type Tokens } from 'marked';
import { parse } from 'yaml';
import { type ApiContract, listOperations } from '../../scripts/docs/operations/contract.ts';
import { toShell } from '../../scripts/docs/operations/samples.ts';
import { GUIDES, readGuide } from '../../scripts/docs/pages.ts';
import { groupSamples, type Samples, toLanguage } from '../../scripts/docs/samples.ts';

export interface Program {
  readonly language: string;
  readonly text: string;
  readonly file?: string | undefined;
  readonly args: readonly string[];
}

/** Programs that do the same, and the output that each must have. */
export interface Step {
  readonly programs: readonly Program[];
  readonly output?: { readonly language: string; readonly text: string };
}

export interface SamplePage {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Whether the variables that the guides define are set already. */
  readonly isPrepared: boolean;
}

const OUTPUTS = new Set(['json', 'http', 'text']);

/** Every page with samples in it: the guides, the contract's descriptions, and the README's curl lines. */
export function listSamplePages(): SamplePage[] {
  const contract = parse(read('openapi/v1.yaml'));
  const guides = GUIDES.map(({ slug }) => toPage(slug, readGuide(slug)));
  return [
    ...guides.map((page) => withClient(page, guides)),
    ...listDescriptions(contract, 'v1.yaml').map(([name, text]) => ({
      ...toPage(name, text),
      isPrepared: true,
    })),
    { name: 'operations', steps: listOperationSamples(contract), isPrepared: false },
    { name: 'README.md', steps: listCurlLines(read('README.md')), isPrepared: true },
  ].filter(({ steps }) => steps.length > 0);
}

/** A sample that uses the client of another page is run after that client. */
function withClient(page: SamplePage, guides: readonly SamplePage[]): SamplePage {
  const isClient = ({ programs }: Step) => programs.some(({ file }) => file === 'plumbline.mjs');
  const client = guides.flatMap(({ steps }) => steps).find(isClient);
  const first = page.steps.findIndex(({ programs }) =>
    programs.some(({ text }) => text.includes('./plumbline.mjs')),
  );
  if (client === undefined || first === -1 || page.steps.some(isClient)) return page;
  return { ...page, steps: page.steps.toSpliced(first, 0, client) };
}

/** The samples of a text, in order. A block that cannot be run or compared is an error. */
export function toPage(name: string, text: string): SamplePage {
  const steps: Step[] = [];
  for (const token of groupSamples(marked.lexer(text))) {
    if (token.type === 'samples') steps.push({ programs: toPrograms(token as Samples) });
    for (const code of listCode(token)) steps.push(withOutput(name, steps.pop(), code));
  }
  return { name, steps, isPrepared: false };
}

function withOutput(name: string, step: Step | undefined, code: Tokens.Code): Step {
  const { language } = toLanguage(code);
  if (!OUTPUTS.has(language)) throw new Error(`${name}: no program runs “${language}”.`);
  if (step === undefined || step.output !== undefined) {
    throw new Error(`${name}: no sample prints\n${code.text}`);
  }
  return { ...step, output: { language, text: code.text } };
}

/** Blocks nested in a list or a quotation count as well. */
function listCode(token: Token): Tokens.Code[] {
  if (token.type === 'code') return [token as Tokens.Code];
  const { tokens = [], items = [] } = token as Tokens.Generic & { items?: Token[] };
  return [...tokens, ...items].flatMap(listCode);
}

function toPrograms({ programs }: Samples): Program[] {
  return programs.map((code) => ({ ...toLanguage(code), text: code.text }));
}

function listDescriptions(node: unknown, path: string): [string, string][] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === 'description' && typeof value === 'string'
      ? [[path, value] as [string, string]]
      : listDescriptions(value, `${path} ${key}`),
  );
}

/** The samples of operations for the shell. Clients run the others: `npm run test:client`. */
function listOperationSamples({ paths }: ApiContract): Step[] {
  return listOperations(paths).map(({ path, operation: { operationId } }) => ({
    programs: [{ language: 'sh', text: toShell(path, operationId), args: [] }],
  }));
}

function listCurlLines(text: string): Step[] {
  const lines = text.split('\n').filter((line) => line.startsWith('curl '));
  return lines.map((line) => ({ programs: [{ language: 'sh', text: line, args: [] }] }));
}

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}
