#!/usr/bin/env node
import { runCommand } from './commands/program.ts';

// The reader of a pipe, such as head, may have read enough. That ends the command and is no error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });

process.exitCode = await runCommand(process.argv.slice(2));
