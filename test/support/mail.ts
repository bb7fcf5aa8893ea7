export interface MailPart {
  readonly headers: readonly string[];
  readonly body: string;
}

const HEADERS = ['From: dmarc@example.net', 'To: rua@example.com'];

/** A mail of one part, with CR LF at line ends. By default its subject says that it is a report. */
export function mail({ headers, body }: MailPart, subject = 'Report domain: x'): Buffer {
  const all = [...HEADERS, `Subject: ${subject}`, 'MIME-Version: 1.0', ...headers, '', body];
  return Buffer.from(all.join('\r\n'), 'latin1');
}

/** A mail of a person. */
export const letter = (part: MailPart): Buffer => mail(part, 'Lunch');

export function multipart(parts: readonly MailPart[], type = 'mixed', boundary = 'b1'): MailPart {
  const bodies = parts.flatMap(({ headers, body }) => [`--${boundary}`, ...headers, '', body]);
  return {
    headers: [`Content-Type: multipart/${type}; boundary="${boundary}"`],
    body: [...bodies, `--${boundary}--`, ''].join('\r\n'),
  };
}

/** A part in base64, by default a binary attachment. */
export function base64(
  content: Uint8Array | string,
  headers: readonly string[] = [
    'Content-Type: application/octet-stream',
    'Content-Disposition: attachment; filename="report.bin"',
  ],
): MailPart {
  const body = Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n');
  return { headers: [...headers, 'Content-Transfer-Encoding: base64'], body };
}

export const text = (body: string, type = 'text/plain'): MailPart => ({
  headers: [`Content-Type: ${type}; charset=utf-8`],
  body,
});
