/** Which tests run on PostgreSQL as well: those of the store, the alerts, the settings pages and the API. */
export const SUITES = [
  'test/{store,judging,alerts,dns,settings,external,mcp,notify}/**/*.test.ts',
  'test/postgres/**/*.test.ts',
];

/** Says something about files of SQLite, which PostgreSQL does not have. `test/postgres/` has the counterparts. */
const OF_FILES = [
  'test/store/{database-file,deleted-bytes,log-file,waiting,open}.test.ts',
  // The command, with a database of its own in a file.
  'test/alerts/command.test.ts',
  'test/store/backup/*.test.ts',
];

/** Says nothing about the store, so that one engine is enough. */
const OF_NO_STORE = [
  'test/external/{components,contract,contract-document,deprecation,examples,operations,limits,parameters,fuzz}.test.ts',
  'test/external/{page-bytes,page-cache}.test.ts',
  'test/settings/{busy-store,style}.test.ts',
  'test/settings/frame/*.test.ts',
  'test/alerts/contexts.test.ts',
  'test/mcp/protocol.test.ts',
  'test/dns/reverse-lookup.test.ts',
  'test/notify/hostile-addresses.test.ts',
  'test/settings/ip-database.test.ts',
  'test/notify/mailer.test.ts',
];

export const NOT_ON_POSTGRES = [...OF_FILES, ...OF_NO_STORE];

/** Takes so long that only `npm run test:postgres` runs it on PostgreSQL, a step of `.ci/run`. */
export const SLOW_ON_POSTGRES = [
  'test/alerts/{any-order,causes,evaluate,hostile,sender-failing,strangers,two-processes}.test.ts',
  'test/dns/{policy-file,record-watch}.test.ts',
  'test/external/{authentication,copies,declared-lists,errors,filters,followers,links,following,polling}.test.ts',
  'test/external/list-*.test.ts',
  'test/external/second-account.test.ts',
  'test/judging/{believed,cached-days}.test.ts',
  'test/judging/plain/*.test.ts',
  'test/mcp/{questions,tools}.test.ts',
  'test/notify/{mail,outbox,webhooks}.test.ts',
  'test/postgres/*.test.ts',
  'test/settings/{account-data,agreement,api-keys,attacks,domain-route,inbox,mail,numbers,overview,people}.test.ts',
  'test/settings/{domains-table,floods,people-page,reports,second-factor,sources,upload}.test.ts',
  'test/settings/{report-reading,single-sign-on,single-sign-on-attacks,webhooks}.test.ts',
  'test/store/{account-export,api-keys,deleted-accounts,documents,histories,leases,migrations,changes}.test.ts',
  'test/store/{aside,page-plans,schemas,verify}.test.ts',
  'test/store/inbox/{deliver,turns}.test.ts',
  'test/store/reports/listing.test.ts',
  'test/store/reports/aging/doubtful.test.ts',
];

/** `npm test` tries few of its random cases. */
export const WITH_MORE_CASES = ['test/store/{batches,heads}.test.ts'];

/** Replaces a module. Each gets a process of its own. */
export const ALONE = ['test/settings/sign-in.test.ts'];

/** Looks at plans, counts by statements that Citus refuses, or says something about a server's own access. */
export const NOT_ON_CITUS = [
  'test/postgres/opening.test.ts',
  'test/store/heads.test.ts',
  'test/store/page-plans.test.ts',
  'test/store/report-list.test.ts',
];
