/** A tar (POSIX.1-1988) of files, and of folders, whose names end with a slash. */
export function tar(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return [toHeader(name, content.length), content, padding];
  });
  return Buffer.concat([...entries, Buffer.alloc(1024)]);
}

function toHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name);
  header.write('0000644\0', 100);
  header.write(size.toString(8).padStart(11, '0'), 124);
  header.write('        ', 148);
  header.write(name.endsWith('/') ? '5' : '0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((all, byte) => all + byte);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** POSIX uuencode, with a blank for zero. */
export function uuencode(bytes: Uint8Array): string {
  const lines = ['begin 644 report.xml.gz'];
  for (let at = 0; at < bytes.length; at += 45) {
    const some = bytes.subarray(at, at + 45);
    const padded = Buffer.concat([some, Buffer.alloc((3 - (some.length % 3)) % 3)]);
    const sixes = Array.from({ length: (padded.length / 3) * 4 }, (_, i) => {
      const bits = padded.readUIntBE(Math.floor(i / 4) * 3, 3);
      return (bits >> (18 - 6 * (i % 4))) & 63;
    });
    lines.push(String.fromCharCode(...[some.length, ...sixes].map((six) => 32 + six)));
  }
  return [...lines, '`', 'end', ''].join('\r\n');
}
