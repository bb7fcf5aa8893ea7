import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/**
 * Tests that `npm test` leaves out because of the time they take, most of them because they start processes:
 * `npm run test:slow`, a step of `.ci/run`.
 */
export const SLOW = [
  'test/cli.test.ts',
  'test/alerts/{hostile,two-processes}.test.ts',
  'test/demo/sandbox.test.ts',
  'test/http/{connections,sandbox,server}.test.ts',
  'test/metrics/*.test.ts',
  'test/jobs/{exclusive-job,free-space,mail,start-inbox}.test.ts',
  'test/commands/{accounts,doctor,document,inbox,ingest,loaded,prune,reread,width,work}.test.ts',
  'test/docs/site.test.ts',
  'test/mcp/questions.test.ts',
  'test/pictures.test.ts',
  'test/notify/{mail,mailer}.test.ts',
  'test/store/backup/*.test.ts',
  'test/external/{copies,following}.test.ts',
  'test/intake/doors/{folder,folder-bounds,imap-server,smtp,smtp-hostile}.test.ts',
  'test/intake/inbox/{killed-workers,worker}.test.ts',
  'test/intake/parser-process.test.ts',
  'test/move/*.test.ts',
  'test/settings/{agreement,attacks,domains-table,floods,report-reading}.test.ts',
  'test/settings/{second-factor,sign-in}.test.ts',
  'test/settings/{single-sign-on,single-sign-on-attacks,upload}.test.ts',
  'test/store/{aside,leases,migrations,open,page-plans}.test.ts',
  'test/intake/hostile-{containers,folder,mail,values,xml}.test.ts',
  'test/intake/{limits,searches,smime}.test.ts',
  'test/intake/verification/mutations.test.ts',
  'test/slow/*.test.ts',
  'test/workflows.test.ts',
];

export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: SLOW,
    maxWorkers: '100%',
    // Loading the product's modules for each file takes a third as long as the tests.
    isolate: false,
  },
});
