import { constants, setPriority } from 'node:os';
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { type IngestedDocument, ingest, type SourceToRead } from '../intake/ingest.ts';
import { createReaderProcess } from '../intake/reader/reader-process.ts';
import { listFiles, readFile, readSource } from '../intake/sources/files.ts';
import { findDomainIds } from '../store/accounts/domains.ts';
import type { Store } from '../store/connection/open.ts';
import { evaluateNow } from './alerts.ts';
import { type OutputOptions, print, printJson, renderTable, tell } from './output.ts';
import { withStore } from './with-store.ts';

/** How many rejected documents the table lists. */
const MAX_SHOWN = 50;
const STANDARD_INPUT = '-';

export function defineIngest(command: Command): void {
  command.action(async (paths: string[], options: OutputOptions) => {
    const summary = await withStore((store) => ingestPaths(store, paths, options));
    if (summary.rejected > 0) process.exitCode = 1;
  });
}

async function ingestPaths(
  store: Store,
  paths: readonly string[],
  options: OutputOptions,
): Promise<Summary> {
  // Requests to a server on this machine have priority over reading reports.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const documentReader = createReaderProcess();
  try {
    const sources = await withProgress(paths, options);
    const names = new Set<string>();
    const given = { db: store.db, now: () => new Date(), documentReader };
    const documents = noteStored(ingest(given, sources), names);
    const summary = options.json ? await printLines(documents) : await printTable(documents);
    await evaluateNow(store, await findDomainIds(store.db, [...names]));
    return summary;
  } finally {
    await documentReader.close();
  }
}

/** Yields the documents unchanged, and records which domains have new reports. */
async function* noteStored(
  documents: AsyncIterable<IngestedDocument>,
  names: Set<string>,
): AsyncGenerator<IngestedDocument> {
  for await (const document of documents) {
    const { outcome, report } = document;
    if (outcome === 'stored' && report !== null) names.add(report.policyPublished.domain);
    yield document;
  }
}

const OUTCOMES = [
  'stored',
  'unclaimed',
  'duplicate',
  'conflict',
  'removed',
  'rejected',
  'ignored',
] as const;
type Summary = Record<'documents' | (typeof OUTCOMES)[number], number>;

/** One JSON object a line for each document, and a last line with the summary. */
async function printLines(documents: AsyncIterable<IngestedDocument>): Promise<Summary> {
  const summary = newSummary();
  for await (const document of documents) {
    count(summary, document);
    printJson(toOutput(document));
  }
  printJson({ summary });
  return summary;
}

/** A table of the outcomes, and one of the rejected documents, for people. */
async function printTable(documents: AsyncIterable<IngestedDocument>): Promise<Summary> {
  const summary = newSummary();
  const refused: IngestedDocument[] = [];
  for await (const document of documents) {
    count(summary, document);
    if (document.outcome === 'rejected' && refused.length < MAX_SHOWN) refused.push(document);
  }
  const met = OUTCOMES.filter((outcome) => summary[outcome] > 0);
  print(
    renderTable(
      ['outcome', 'documents'],
      met.map((outcome) => [outcome, summary[outcome]]),
    ),
  );
  if (refused.length > 0) print(renderRefused(refused));
  if (summary.rejected > MAX_SHOWN)
    tell(`… and ${summary.rejected - MAX_SHOWN} more were rejected.`);
  if (summary.unclaimed > 0) {
    tell('Unclaimed reports are for domains that nobody has registered: plumbline domain add');
  }
  if (summary.conflict > 0) {
    tell(
      'A conflict has the identity of a known report and other content: plumbline document list --outcome conflict',
    );
  }
  return summary;
}

function renderRefused(documents: readonly IngestedDocument[]): string {
  const rows = documents.map(({ source, member, refusal }) => [
    [source, ...member].join(' > '),
    refusal?.reason,
    [refusal?.message, refusal?.where].filter(Boolean).join(' '),
  ]);
  return renderTable(['rejected', 'reason', ''], rows);
}

function toOutput({ source, member, outcome, report, refusal }: IngestedDocument) {
  return {
    source,
    member: member.length === 0 ? null : member.join(' > '),
    outcome,
    reason: refusal?.reason ?? null,
    message: refusal?.message ?? null,
    where: refusal?.where ?? null,
    domain: report?.policyPublished.domain ?? null,
    report_id: report?.metadata.reportId ?? null,
    record_count: report?.tally.recordCount ?? null,
    total_messages: report?.tally.totalMessages ?? null,
    aligned_messages: report?.tally.alignedMessages ?? null,
    warnings: report?.warnings.map(({ code }) => code) ?? [],
  };
}

function newSummary(): Summary {
  return Object.fromEntries(['documents', ...OUTCOMES].map((name) => [name, 0])) as Summary;
}

function count(summary: Summary, { outcome }: IngestedDocument): void {
  summary.documents += 1;
  summary[outcome] += 1;
}

/** The sources at the paths. On a terminal, a bar on standard error shows the progress of reading. */
async function withProgress(
  paths: readonly string[],
  { json }: OutputOptions,
): Promise<AsyncGenerator<SourceToRead>> {
  if (json || !process.stderr.isTTY) return listSources(paths);
  const total = await Array.fromAsync(listSources(paths)).then((sources) => sources.length);
  return showProgress(listSources(paths), total);
}

async function* showProgress(
  sources: AsyncIterable<SourceToRead>,
  total: number,
): AsyncGenerator<SourceToRead> {
  const bar = new SingleBar({ format: '{bar} {value} of {total} files, {duration_formatted}' });
  bar.start(total, 0);
  for await (const source of sources) {
    yield source;
    bar.increment();
  }
  bar.stop();
}

async function* listSources(paths: readonly string[]): AsyncGenerator<SourceToRead> {
  for (const path of paths) {
    if (path === STANDARD_INPUT) {
      yield { name: path, read: () => readSource(path, process.stdin) };
      continue;
    }
    for await (const file of listFiles([path])) yield { name: file, read: () => readFile(file) };
  }
}
