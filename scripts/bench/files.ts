/** Reports as reporters send them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type MadeReport, renderReport } from './reports.ts';

export interface FileKind {
  readonly name: 'report' | 'mail';
  readonly ending: string;
  readonly toBytes: (report: MadeReport) => Buffer;
}

export const REPORT: FileKind = {
  name: 'report',
  ending: '.xml.gz',
  toBytes: (report) => gzipSync(renderReport(report)),
};
export const MAIL: FileKind = { name: 'mail', ending: '.eml', toBytes: packMail };

/** Writes a file for each report into a new folder, and returns how many bytes they have. */
export async function writeFiles(
  folder: string,
  reports: readonly MadeReport[],
  { ending, toBytes }: FileKind,
): Promise<number> {
  await mkdir(folder);
  let bytes = 0;
  for (const report of reports) {
    const content = toBytes(report);
    const { domain, day, reporter } = report;
    const name = `provider-${reporter}.example!${domain}!${day}!${day + 1}${ending}`;
    await writeFile(join(folder, name), content);
    bytes += content.length;
  }
  return bytes;
}

/** The report is the mail's only part, as large reporters send it. */
function packMail(report: MadeReport): Buffer {
  const { domain, day, reporter } = report;
  const lines = [
    `From: dmarc-reports@provider-${reporter}.example`,
    `To: dmarc@${domain}`,
    `Subject: Report domain: ${domain} Submitter: provider-${reporter}.example`,
    `Message-ID: <${domain}.${day}@provider-${reporter}.example>`,
    'MIME-Version: 1.0',
    'Content-Type: application/gzip; name="report.xml.gz"',
    'Content-Transfer-Encoding: base64',
    '',
    ...(REPORT.toBytes(report)
      .toString('base64')
      .match(/.{1,76}/g) ?? []),
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}
