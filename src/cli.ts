#!/usr/bin/env node
import { runCommand } from './commands/program.ts';

// The reader of a pipe, such as head, may have read enough. That ends the command and is no error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    const { reportError } = await import('./commands/output/report-error.ts');
    process.exit(reportError(error, {}));
  });

process.exitCode = await runCommand(process.argv.slice(2));
