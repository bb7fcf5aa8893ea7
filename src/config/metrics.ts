import type { Environment } from './environment.ts';
import { text, whole } from './variable.ts';

const VARIABLES = {
  port: whole('PLUMBLINE_METRICS_PORT', undefined, { min: 1, max: 65_535 }),
  host: text('PLUMBLINE_METRICS_HOST', '127.0.0.1'),
};

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** Where a process answers `GET /metrics`; undefined for nowhere. */
export function readMetrics(environment: Environment): MetricsAddress | undefined {
  const { host, port } = environment.read(VARIABLES);
  return port === undefined ? undefined : { host, port };
}
