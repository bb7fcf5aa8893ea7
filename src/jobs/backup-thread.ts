import { workerData } from 'node:worker_threads';
import { backUp } from '../store/backup/backup.ts';

/* Checking a copy blocks a thread for as long as reading it takes, so the one that answers requests starts this one. */

await backUp(workerData);
