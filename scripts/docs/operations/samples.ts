import { readFileSync } from 'node:fs';
import { SANDBOX_DOMAIN_IDS, SANDBOX_KEY } from '../../../src/domain/sandbox.ts';

/** How an operation is called, in one language. */
export interface OperationSample {
  /** As in a block of Markdown. */
  readonly language: string;
  /** As the reader calls it. */
  readonly label: string;
  readonly source: string;
}

/** The programs that CI runs against each change of the server (test/clients), whose parts are the samples. */
export const CLIENTS = [
  { language: 'ts', label: 'TypeScript', file: 'test/clients/typescript/scenario.ts' },
  { language: 'python', label: 'Python', file: 'test/clients/python/scenario.py' },
  { language: 'go', label: 'Go', file: 'test/clients/go/main.go' },
] as const;

const BEGIN = /^\s*(?:\/\/|#) sample: (\w+)$/;
const END = /^\s*(?:\/\/|#) end$/;

const programs = CLIENTS.map(({ language, label, file }) => {
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
  return { language, label, parts: cutSamples(text) };
});

/** The samples of an operation: curl, and the part of each client's program that calls it. */
export function listSamples(path: string, operationId: string): OperationSample[] {
  return [
    { language: 'sh', label: 'curl', source: toShell(path, operationId) },
    ...cut(operationId),
  ];
}

/** What comes before the samples in other languages: the client, which reads the variables of the shell. */
export function listSetups(): OperationSample[] {
  return cut('setup');
}

function cut(name: string): OperationSample[] {
  return programs.map(({ language, label, parts }) => {
    const source = parts.get(name);
    if (source === undefined) throw new Error(`The client in ${label} has no sample: ${name}.`);
    return { language, label, source };
  });
}

/**
 * The parts of a program that its comments name, as `// sample: listDomains` … `// end`. Parts of one name are
 * joined, and a part may contain others.
 */
export function cutSamples(program: string): Map<string, string> {
  const parts = new Map<string, string[][]>();
  const open: string[][] = [];
  for (const line of program.split('\n')) {
    const name = BEGIN.exec(line)?.[1];
    if (name !== undefined) {
      const part: string[] = [];
      parts.set(name, [...(parts.get(name) ?? []), part]);
      open.push(part);
    } else if (END.test(line)) open.pop();
    else for (const part of open) part.push(line);
  }
  return new Map([...parts].map(([name, all]) => [name, all.map(toText).join('\n\n')]));
}

/** Without the indentation that all lines have. */
function toText(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const indent = Math.min(...indents);
  return lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trim();
}

/** It runs as pasted. */
export function toShell(path: string, operationId: string): string {
  return `${toVariables(path)}\n\n${toCurl(path, operationId)}`;
}

function toCurl(path: string, operationId: string): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  const query = operationId.startsWith('list') ? '?limit=50' : '';
  return `curl -H "Authorization: Bearer $PLUMBLINE_API_KEY" \\\n  "$PLUMBLINE_BASE_URL${filled}${query}"`;
}

/** The variables for the sandbox, which every server has. */
function toVariables(path: string): string {
  const lines = [
    'export PLUMBLINE_BASE_URL=http://127.0.0.1:8080/sandbox',
    `export PLUMBLINE_API_KEY=${SANDBOX_KEY}`,
  ];
  if (path.includes('{domain_id}')) {
    lines.push(`export DOMAIN_ID=${SANDBOX_DOMAIN_IDS['example.com']}`);
  }
  const [, list, id] = /^(.*)\/\{(report_id|tls_report_id)\}/.exec(path) ?? [];
  if (list !== undefined && id !== undefined) {
    const newest = toCurl(list, 'listReports');
    lines.push(
      `export ${id.toUpperCase()}=$(${newest.replace('curl', 'curl -s').replace('limit=50', 'limit=1')} |\n  sed -E 's/.*"id":"([^"]+)".*/\\1/')`,
    );
  }
  return lines.join('\n');
}
