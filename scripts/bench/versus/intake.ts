import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runJob } from '../job.ts';
import { renderMadeReport } from '../storage/report.ts';
import { SHAPES, toMadeReport } from '../storage/shapes.ts';
import { tell } from './tell.ts';
import type { Version } from './versions.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 6);
/** Of fifty domains, as a reporter sends them. */
const SHAPE = { ...SHAPES.account, domains: 50 };
const KINDS = [
  { name: 'intake of a report (.xml.gz)', reports: 4_000, isMail: false },
  { name: 'intake of a mail (.eml)', reports: 1_000, isMail: true },
];

export async function versusIntake(versions: readonly Version[], wanted: string): Promise<void> {
  for (const kind of KINDS.filter(({ name }) => name.includes(wanted))) {
    const root = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
    try {
      const folder = join(root, 'files');
      await writeFiles(folder, kind);
      tell(kind.name, await race(versions, folder, kind.reports));
    } finally {
      await rm(root, { recursive: true });
    }
  }
}

async function race(versions: readonly Version[], folder: string, reports: number) {
  const least = versions.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, { name, root }] of versions.entries()) {
      const { cpuMs } = await runJob('ingest', folder, `${folder}-${name}-${round}.db`, root);
      least[i] = Math.min(least[i] ?? 0, (cpuMs * 1000) / reports);
    }
  return least;
}

async function writeFiles(folder: string, { reports, isMail }: (typeof KINDS)[number]) {
  await mkdir(folder);
  for (let i = 0; i < reports; i++) {
    const report = toMadeReport(SHAPE, reports, i);
    const zipped = gzipSync(renderMadeReport(report, SHAPE.records));
    const [name, bytes] = isMail ? [`${i}.eml`, toMail(i, zipped)] : [`${i}.xml.gz`, zipped];
    await writeFile(join(folder, name), bytes);
  }
}

function toMail(i: number, zipped: Buffer): string {
  const lines = [
    'From: dmarc-reports@provider.example',
    'To: dmarc@company.example',
    `Subject: Report domain: company.example Submitter: provider.example Report-ID: ${i}`,
    `Message-ID: <${i}@provider.example>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="part"',
    '',
    '--part',
    'Content-Type: text/plain',
    '',
    'This is an aggregate report.',
    '--part',
    'Content-Type: application/gzip; name="report.xml.gz"',
    'Content-Transfer-Encoding: base64',
    '',
    ...(zipped.toString('base64').match(/.{1,76}/g) ?? []),
    '--part--',
    '',
  ];
  return lines.join('\r\n');
}
