import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';

/** Reports by other people, with the result of an independent reader for each; not part of the project. */
const CORPUS = new URL('../../../shared/corpus/', import.meta.url);

export interface Sample {
  readonly repo: string;
  readonly path: string;
  /** What is in what, for example `eml>gz>xml`. */
  readonly chain: string;
  readonly file_sha256: string;
  readonly payload_sha256: string;
  readonly expect: 'accept' | 'repair' | 'reject';
  readonly reject_code: string;
  readonly ambiguous: string;
  readonly domain_norm: string;
  readonly org_name: string;
  readonly email: string;
  readonly report_id: string;
  readonly begin: string;
  readonly end: string;
  readonly records: string;
  readonly usable_records: string;
  readonly total_count: string;
  readonly aligned_count: string;
  readonly oddities: string;
}

/** None when the corpus is not there. */
export const SAMPLES: readonly Sample[] = existsSync(CORPUS)
  ? parse(readFileSync(new URL('expected.csv', CORPUS)), { columns: true })
  : [];

export const openSample = (row: Sample): Buffer =>
  readFileSync(new URL(encodeURIComponent(row.repo.replace('/', '__')) + encodePath(row), CORPUS));

const encodePath = ({ path }: Sample): string =>
  `/${path.split('/').map(encodeURIComponent).join('/')}`;
