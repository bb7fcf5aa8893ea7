/**
 * The baseline on PostgreSQL: a node:http server that runs the product's statement for a page, prepared by name,
 * on a pool of `pg`, and sends the rows' JSON. For a known page it reads the list's head and answers 304. It
 * checks nothing, and knows where pages begin from the start.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { findParser, SESSION } from '../../../src/store/engine/postgres/values.ts';
import { answerCpu } from '../cpu.ts';

const pool = new pg.Pool({
  connectionString: process.env['BENCH_DATABASE'],
  options: SESSION,
  types: { getTypeParser: findParser as never },
  max: 6,
});
const domainId = process.env['BENCH_DOMAIN'] ?? '';

const HEAD = {
  name: 'head',
  text: `select reports_total as total, reports_version as version, reports_position as position,
    reports_nonce as nonce from domain where id = $1`,
};
const PAGE = {
  name: 'page',
  text: `select row_to_json(page)::text as item from (select id, reporter_org, reporter_email,
      replace((begin_date at time zone 'UTC')::text, ' ', 'T') || 'Z' as begin_date,
      replace((end_date at time zone 'UTC')::text, ' ', 'T') || 'Z' as end_date, record_count, total_messages, aligned_messages
    from report where domain_id = $1 and begin_date <= $2
    order by report.begin_date desc, seq desc limit $3 offset $4) as page`,
};

const { rows: days } = await pool.query(
  'select day, reports as items from domain_day where domain_id = $1 order by day desc',
  [domainId],
);
let before = 0;
const places = days.map(({ day, items }) => {
  const place = { until: `${day}T23:59:59Z`, before };
  before += Number(items);
  return place;
});

async function readPage(url: string): Promise<string> {
  const { searchParams } = new URL(url, 'http://localhost');
  const [limit, offset] = [searchParams.get('limit') ?? 50, Number(searchParams.get('offset'))];
  const { until, before } = places.findLast((place) => place.before <= offset) as {
    until: string;
    before: number;
  };
  const values = [domainId, until, limit, offset - before];
  const { rows } = await pool.query({ ...PAGE, values });
  return `{"data":[${rows.map(({ item }) => item).join(',')}],"total":${process.env['BENCH_TOTAL']}}\n`;
}

const server = createServer(async (req, res) => {
  if (req.headers['if-none-match'] !== undefined) {
    await pool.query({ ...HEAD, values: [domainId] });
    res.writeHead(304, { etag: 'W/"bench"' }).end();
    return;
  }
  const body = await readPage(req.url ?? '');
  const headers = { 'content-type': 'application/json', etag: 'W/"bench"' };
  res.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
});
server.listen(0, '127.0.0.1', () => {
  answerCpu(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
