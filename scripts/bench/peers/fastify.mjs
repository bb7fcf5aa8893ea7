/*
 * The list of reports, served by Fastify with better-sqlite3 and nothing that it does not need: the key by its
 * SHA-256, the account's plan, limits per key and address with their headers, parameters, entity tags, a page and
 * its total from one snapshot, gzip when it is asked for, a request id, security headers and a log line. A
 * page's place is found as in Plumbline, by counts of days that are kept in memory for the list's version, and rows are
 * read as arrays. Its database is its own, so that it knows nothing of Plumbline's: it copies the list from the API.
 */
import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import fastify from 'fastify';
import pino from 'pino';

const { BENCH_URL: url, BENCH_LIST: list = '', BENCH_KEY: key = '' } = process.env;
const domain = list.split('/').at(-2);

/* A file that SQLite deletes when the process ends. */
const db = new Database('');
db.pragma('cache_size = -16000');
db.exec(`create table api_key (sha256 blob primary key, id integer, account_id integer, enabled integer);
  create table account (id integer primary key, plan text);
  create table domain (id text primary key, account_id integer, reports_total integer, reports_version text);
  create table domain_day (domain_id text, day text, reports integer, primary key (domain_id, day)) without rowid;
  create table report (seq integer primary key, domain_id text, id text, reporter_org text, reporter_email text,
    begin_date text, end_date text, record_count integer, total_messages integer, aligned_messages integer, revision integer);
  create index report_of_domain on report (domain_id, begin_date, seq)`);
const COLUMNS =
  'id, reporter_org, reporter_email, begin_date, end_date, record_count, total_messages, aligned_messages, revision';
const NAMES = COLUMNS.split(', ');
await copy();

/** The newest report has the largest `seq`. */
async function copy() {
  const headers = { authorization: `Bearer ${key}` };
  const insert = db.prepare(`insert into report (seq, domain_id, ${COLUMNS})
    values (?, ?, ${NAMES.map(() => '?').join()})`);
  const insertAll = db.transaction((rows, left) => {
    for (const [i, row] of rows.entries())
      insert.run(left - i, domain, ...NAMES.map((name) => row[name]));
  });
  let total = 1;
  for (let offset = 0; offset < total; offset += 200) {
    const answer = await fetch(`${url}${list}?limit=200&offset=${offset}`, { headers });
    const page = await answer.json();
    total = page.total;
    insertAll(page.data, total - offset);
  }
  db.prepare("insert into account values (1, 'pro')").run();
  db.prepare('insert into api_key values (?, 1, 1, 1)').run(
    createHash('sha256').update(key).digest(),
  );
  db.prepare("insert into domain values (?, 1, ?, 'bench')").run(domain, total);
  db.exec(`insert into domain_day select domain_id, date(begin_date), count(*) from report group by 1, 2;
    analyze`);
}

const findHolder = db.prepare(`select id, account_id from api_key where sha256 = ? and enabled = 1
  and (select plan from account where account.id = account_id) = 'pro'`);
const findHead = db
  .prepare('select reports_total, reports_version from domain where id = ? and account_id = ?')
  .raw();
const listDays = db
  .prepare('select day, reports from domain_day where domain_id = ? order by day desc')
  .raw();
const listRows = db
  .prepare(`select ${COLUMNS} from report where domain_id = ? and begin_date <= ?
    order by begin_date desc, seq desc limit ? offset ?`)
  .raw();

const SECURITY = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
  'cache-control': 'private, no-cache',
  vary: 'Authorization, Accept-Encoding',
};
const log = pino({}, pino.destination({ dest: '/dev/null', sync: false, minLength: 4096 }));
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const counted = new Map();
function findPlace(domainId, version, offset) {
  if (offset === 0) return ['9999', 0];
  const days = counted.get(version) ?? listDays.all(domainId);
  counted.set(version, days);
  let passed = 0;
  for (const [day, items] of days) {
    if (passed + items > offset) return [`${day}T23:59:59Z`, offset - passed];
    passed += items;
  }
}

const readPage = db.transaction((domainId, accountId, limit, offset) => {
  const [total, version] = findHead.get(domainId, accountId);
  if (offset >= total) return { total, version, rows: [] };
  const [until, skip] = findPlace(domainId, version, offset);
  return { total, version, rows: listRows.all(domainId, until, limit, skip) };
});

const windows = new Map();
function count(name, limit) {
  const now = Date.now();
  let window = windows.get(name);
  if (window === undefined || window.until <= now) {
    window = { hits: 0, until: now + 60_000 };
    windows.set(name, window);
  }
  window.hits += 1;
  return { left: limit - window.hits, seconds: Math.ceil((window.until - now) / 1000) };
}

const LIMIT = 1_000_000_000;
const refuse = (reply, status, code) => reply.code(status).send({ error: { code, message: code } });
const app = fastify({ genReqId: () => randomBytes(6).toString('base64url') });

app.addHook('onResponse', (request, reply, done) => {
  const { id, method, url } = request;
  log.info({
    request_id: id,
    method,
    path: url.split('?', 1)[0],
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime),
  });
  done();
});

app.get('/v1/external/domains/:id/reports', (request, reply) => {
  const ip = count(request.ip, LIMIT);
  reply.headers(SECURITY).header('x-request-id', request.id);
  const [, given] = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const holder = given && findHolder.get(createHash('sha256').update(given).digest());
  if (!holder) return refuse(reply, 401, 'unauthorized');
  const own = count(holder.id, LIMIT);
  reply.header(
    'ratelimit',
    `"ip";r=${ip.left};t=${ip.seconds}, "key";r=${own.left};t=${own.seconds}`,
  );
  reply.header('ratelimit-policy', `"ip";q=${LIMIT};w=60, "key";q=${LIMIT};w=60`);
  if (ip.left < 0 || own.left < 0) return refuse(reply, 429, 'rate_limited');
  const { limit: givenLimit = '50', offset: givenOffset = '0' } = request.query;
  const [limit, offset] = [
    Number(givenLimit),
    Math.min(Number(givenOffset), Number.MAX_SAFE_INTEGER),
  ];
  const isValid =
    /^\d+$/.test(givenLimit) && /^\d+$/.test(givenOffset) && limit >= 1 && limit <= 200;
  const domainId = request.params.id.toLowerCase();
  if (!isValid || !UUID.test(domainId)) return refuse(reply, 422, 'validation_error');
  const head = findHead.get(domainId, holder.account_id);
  if (head === undefined) return refuse(reply, 404, 'not_found');
  if (request.headers['if-none-match'] === `W/"${head[1]}"`)
    return reply.header('etag', `W/"${head[1]}"`).code(304).send();
  const { total, version, rows } = readPage(domainId, holder.account_id, limit, offset);
  const data = rows.map((row) => Object.fromEntries(NAMES.map((name, i) => [name, row[i]])));
  return sendBody(request, reply, version, `${JSON.stringify({ data, total })}\n`);
});

function sendBody(request, reply, version, text) {
  reply.header('etag', `W/"${version}"`).header('content-type', 'application/json');
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '') || text.length < 1400)
    return reply.send(text);
  return reply.header('content-encoding', 'gzip').send(gzipSync(text, { level: 3 }));
}

await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(
  `${JSON.stringify({ url: `http://127.0.0.1:${app.server.address().port}` })}\n`,
);
