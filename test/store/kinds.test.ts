import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/*
 * `report` has reports of DMARC and of TLS, and `domain_day` what is believed and what is not. A query of either says which rows
 * it is of, or is one of those here, which are of all.
 */

const ROOT = fileURLToPath(new URL('../../src/store/', import.meta.url));
const toQuery = (table: string) =>
  new RegExp(
    `(?:selectFrom|Join|deleteFrom|updateTable)\\(\\s*'${table}\\b|\\b(?:from|join) ${table}\\b`,
  );

const RULES = [
  {
    table: 'report',
    says: /IS_DMARC|IS_TLS|isOfKind|\bkind\b/,
    ofAll: [
      // By the report's own key, or the changes that it is.
      ...[
        'authenticated.ts preferAuthenticated',
        'locking.ts findReport',
        'established.ts believe',
      ],
      ...['planning.ts isStored', 'planning.ts isReadAgain', 'report-rows.ts knownAtOnce'],
      ...['report-rows.ts knownOfDomains', 'report-rows.ts repeatedContents'],
      ...['listing.ts placeUpdate', 'feed.ts selectStored', 'day-sources.ts contentsOf'],
      // Of all that is stored: its age and size, who sent it, and operators' lists.
      ...['removal.ts', 'doubtful.ts', 'eviction.ts', 'old-originals.ts', 'old-reports.ts'],
      ...['unclaimed.ts', 'document-list.ts listRepeated', 'domain-reports.ts'],
      ...['figures.ts', 'database-file.ts findReports'],
      // Of none: it asks the server that has them.
      'reader.ts STATES',
    ],
  },
  {
    table: 'domain_day',
    says: /isInView|\bbelief\b/,
    // A day's row; what its users say it of; totals of lists, which show all reports.
    ofAll: [
      ...['day-sources.ts storeSources', 'believed.ts selectRange'],
      ...['report-list-queries.ts reportCountOf', 'timeline.ts domainDays'],
    ],
  },
] as const;

const files = globSync('**/*.ts', { cwd: ROOT, exclude: ['migrations/**'] });
const COMMENT = /\/\*.*?\*\/|\/\/[^\n]*/gs;

/** What a file declares, each with its name. */
function listDeclared(file: string): { readonly name: string; readonly text: string }[] {
  const code = readFileSync(`${ROOT}${file}`, 'utf8').replaceAll(COMMENT, '');
  return code.split(/\n\n(?=\S)/).map((text) => {
    const [, name] = /(?:function\*?|const|class) (\w+)/.exec(text) ?? [];
    return { name: `${file.split('/').at(-1)} ${name}`, text };
  });
}

test.each(RULES)('a query of $table says which rows it is of', ({ table, says, ofAll }) => {
  const silent = files
    .flatMap(listDeclared)
    .filter(({ text }) => toQuery(table).test(text) && !says.test(text))
    .map(({ name }) => name);
  const isKnown = (name: string) => ofAll.some((one) => name === one || name.split(' ')[0] === one);
  expect(silent.filter((name) => !isKnown(name))).toEqual([]);
  expect(ofAll.filter((one) => !silent.some((name) => name.startsWith(one)))).toEqual([]);
});
