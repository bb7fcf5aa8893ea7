/**
 * The plainest server of the same packages, as their READMEs show: routes on Express, a limiter, a logger,
 * `COUNT(*)`, `OFFSET` and `res.json`. It checks the key and the parameters, and answers with the same data.
 */
import { hash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Database from 'better-sqlite3';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import pino from 'pino';
import { answerCpu } from './cpu.ts';

const db = new Database(process.env['BENCH_DATABASE'], { readonly: true });
const log = pino(pino.destination('/dev/null'));
const findKey = db.prepare(`select account_id from api_key
  join account on account.id = api_key.account_id and plan = 'pro' where sha256 = ? and enabled = 1`);
const findDomain = db.prepare('select id from domain where id = ? and account_id = ?');
const countReports = db.prepare('select count(*) as total from report where domain_id = ?');
const listReports = db.prepare(`select id, reporter_org, reporter_email, begin_date, end_date,
    record_count, total_messages, aligned_messages
  from report where domain_id = ? order by begin_date desc, seq desc limit ? offset ?`);

const app = express();
app.use(helmet());
app.use(rateLimit({ windowMs: 60_000, limit: 1_000_000_000, standardHeaders: 'draft-8' }));
app.use((req, res, next) => {
  const startedAt = Date.now();
  res.on('finish', () => {
    log.info({
      method: req.method,
      url: req.url,
      status: res.statusCode,
      ms: Date.now() - startedAt,
    });
  });
  next();
});

app.get('/v1/external/domains/:id/reports', (req, res) => {
  const key = req.headers.authorization?.replace(/^Bearer /i, '') ?? '';
  const holder = findKey.get(hash('sha256', key)) as { account_id: string } | undefined;
  if (holder === undefined) return refuse(res, 401, 'unauthorized');
  const [limit, offset] = [Number(req.query['limit'] ?? 50), Number(req.query['offset'] ?? 0)];
  if (!(limit >= 1 && limit <= 200 && offset >= 0)) return refuse(res, 422, 'validation_error');
  const domain = findDomain.get(req.params.id, holder.account_id);
  if (domain === undefined) return refuse(res, 404, 'not_found');
  const { total } = countReports.get(req.params.id) as { total: number };
  res.json({ data: listReports.all(req.params.id, limit, offset), total });
});

function refuse(res: express.Response, status: number, code: string): void {
  res.status(status).json({ error: { code, message: code } });
}

const server = app.listen(0, '127.0.0.1', () => {
  answerCpu(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
