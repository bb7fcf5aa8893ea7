import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipMember {
  readonly name: string;
  readonly content: Uint8Array | string;
  readonly isStored?: boolean;
  readonly isEncrypted?: boolean;
  readonly crc?: number;
  readonly method?: number;
}

/** A minimal zip archive, with anything that a hostile or careless sender may put in. */
export function zip(members: readonly ZipMember[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const { data, fields } = pack(member);
    const name = Buffer.from(member.name);
    locals.push(uints([0x04034b50, 4], [20, 2], ...fields, [name.length, 2], [0, 2]), name, data);
    const tail = [
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 4],
      [offset, 4],
    ] as const;
    directory.push(
      uints([0x02014b50, 4], [20, 2], [20, 2], ...fields, [name.length, 2], ...tail),
      name,
    );
    offset = locals.reduce((sum, { length }) => sum + length, 0);
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const count = members.length;
  const end = uints(
    [0x06054b50, 4],
    [0, 4],
    [count, 2],
    [count, 2],
    [size, 4],
    [offset, 4],
    [0, 2],
  );
  return Buffer.concat([...locals, ...directory, end]);
}

function pack({ content, isStored = false, isEncrypted = false, crc, method }: ZipMember) {
  const raw = Buffer.from(content);
  const data = isStored ? raw : deflateRawSync(raw);
  const flags = isEncrypted ? 1 : 0;
  return {
    data,
    // Flags, method, time and date, checksum, both sizes: the same in both headers.
    fields: [
      [flags, 2],
      [method ?? (isStored ? 0 : 8), 2],
      [0, 4],
      [crc ?? crc32(raw), 4],
      [data.length, 4],
      [raw.length, 4],
    ] as const,
  };
}

/** Little-endian numbers with the given sizes in bytes. */
function uints(...fields: readonly (readonly [value: number, bytes: number])[]): Buffer {
  return Buffer.concat(
    fields.map(([value, bytes]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntLE(value, 0, bytes);
      return buffer;
    }),
  );
}
