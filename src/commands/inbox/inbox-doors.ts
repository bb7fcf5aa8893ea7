import type { Command } from 'commander';
import { listDoors } from '../../store/inbox/doors.ts';
import { type OutputOptions, printList } from '../output/output.ts';
import { toShortTime } from '../output/short-time.ts';
import { withStore } from '../with-store.ts';

export function addInboxDoors(inbox: Command): void {
  inbox
    .command('doors')
    .description('List the doors that mails come in by, and what keeps them from working.')
    .action(async (options: OutputOptions) => {
      const doors = await withStore(({ db }) => listDoors(db));
      printList(doors, { none: 'No door was ever open.', toColumns }, options);
    });
}

function toColumns({ door, noted_at, last_error }: Awaited<ReturnType<typeof listDoors>>[number]) {
  return { door, 'worked (UTC)': toShortTime(noted_at), state: last_error ?? 'works' };
}
