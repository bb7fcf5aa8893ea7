/** The product in a process of its own that reports its CPU time. */
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/http/log.ts';
import { startServer } from '../../src/http/server.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { answerCpu } from './cpu.ts';

const config = readConfig(process.env);
const store = await openStore(config.database, config.databaseOptions);
const metrics = process.env['BENCH_METRICS'] === 'on' ? createMetrics() : undefined;
const log = createLog(config.logLevel);
const server = await startServer(config, { store, log, metrics });
answerCpu(server.url);
