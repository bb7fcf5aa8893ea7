import { isIPv4 } from 'node:net';

/** Text, whole numbers below 2^32, and maps of them: what the records of network databases have. */
export type MmdbValue = string | number | { readonly [name: string]: MmdbValue };

interface Wanted {
  /** Networks with their records: `192.0.2.0/24`, `2001:db8::/32`. None contains another one. */
  readonly networks: Readonly<Record<string, MmdbValue>>;
  readonly ipVersion?: 4 | 6;
}

/** A small MMDB file. */
export function anMmdb({ networks, ipVersion = 6 }: Wanted): Buffer {
  const prefixes = Object.entries(networks).map(([network, record]) => {
    const [address = '', length = ''] = network.split('/');
    const isBelow = isIPv4(address) && ipVersion === 6;
    const bytes = isIPv4(address) ? address.split('.').map(Number) : toBytes(address);
    return {
      bytes: isBelow ? [...BEFORE_IPV4, ...bytes] : bytes,
      length: Number(length) + (isBelow ? 96 : 0),
      record,
    };
  });
  return toMmdb(prefixes, { type: 'Test', ipVersion });
}

/** IPv4 addresses are below ::/96 in a tree of IPv6. */
const BEFORE_IPV4 = Array.from({ length: 12 }, () => 0);

interface Prefix {
  /** An address of the network. */
  readonly bytes: readonly number[];
  /** In bits. */
  readonly length: number;
  /** Is written once for all prefixes that have the same object. */
  readonly record: MmdbValue;
}

/** An MMDB file (MaxMind DB File Format 2.0), with records of 24 bits. None of the networks contains another one. */
export function toMmdb(
  prefixes: Iterable<Prefix>,
  { type, ipVersion }: { readonly type: string; readonly ipVersion: 4 | 6 },
): Buffer {
  const offsets = new Map<MmdbValue, number>();
  const data: Buffer[] = [];
  let size = 0;
  const toOffset = (record: MmdbValue) => {
    const known = offsets.get(record);
    if (known !== undefined) return known;
    const bytes = encode(record);
    data.push(bytes);
    offsets.set(record, size);
    size += bytes.length;
    return size - bytes.length;
  };
  const tree = new Tree();
  for (const { bytes, length, record } of prefixes) tree.insert(bytes, length, toOffset(record));
  const metadata = {
    ...{ node_count: tree.count, record_size: 24, ip_version: ipVersion },
    ...{ database_type: type, binary_format_major_version: 2, binary_format_minor_version: 0 },
    build_epoch: 1_770_000_000,
  };
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([tree.encode(), Buffer.alloc(16), ...data, marker, encode(metadata)]);
}

function toBytes(address: string): number[] {
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const zeros = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: zeros }, () => '0'), ...groups(tail)];
  return all.flatMap((group) => [
    Number.parseInt(group, 16) >> 8,
    Number.parseInt(group, 16) & 255,
  ]);
}

/** The two children of each node, one after the other: a node's number, less than 0 a place in the data, or 0 for nothing. */
class Tree {
  readonly #children = [0, 0];

  get count(): number {
    return this.#children.length / 2;
  }

  insert(bytes: readonly number[], length: number, offset: number): void {
    const children = this.#children;
    let node = 0;
    for (let bit = 0; bit < length; bit += 1) {
      const at = 2 * node + (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
      if (bit === length - 1) children[at] = -1 - offset;
      else if (children[at] === 0) children[at] = children.push(0, 0) / 2 - 1;
      node = children[at] ?? 0;
    }
  }

  /** A record is the number of a node, or after their count a place in the data; the count itself is nothing. */
  encode(): Buffer {
    const bytes = Buffer.alloc(this.#children.length * 3);
    for (const [i, child] of this.#children.entries()) {
      const place = child < 0 ? this.count + 16 - 1 - child : this.count;
      bytes.writeUIntBE(child > 0 ? child : place, i * 3, 3);
    }
    return bytes;
  }
}

const [TEXT, UINT32, MAP] = [2, 6, 7];

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([toControl(TEXT, bytes.length), bytes]);
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([toControl(UINT32, 4), bytes]);
  }
  const fields = Object.entries(value).flatMap(([name, field]) => [encode(name), encode(field)]);
  return Buffer.concat([toControl(MAP, fields.length / 2), ...fields]);
}

/** For sizes below 285. */
function toControl(type: number, size: number): Buffer {
  return size < 29 ? Buffer.from([(type << 5) | size]) : Buffer.from([(type << 5) | 29, size - 29]);
}
