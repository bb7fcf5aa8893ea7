import { isIPv4 } from 'node:net';

/** Text, whole numbers below 2^32, and maps of them: what the records of network databases have. */
export type MmdbValue = string | number | { readonly [name: string]: MmdbValue };

interface Wanted {
  /** Networks with their records: `192.0.2.0/24`, `2001:db8::/32`. None contains another one. */
  readonly networks: Readonly<Record<string, MmdbValue>>;
  readonly ipVersion?: 4 | 6;
}

type Node = [left: Node | number | undefined, right: Node | number | undefined];

/** A small MMDB file (MaxMind DB File Format 2.0), with records of 24 bits. */
export function anMmdb({ networks, ipVersion = 6 }: Wanted): Buffer {
  const root: Node = [undefined, undefined];
  const data: Buffer[] = [];
  let size = 0;
  for (const [network, record] of Object.entries(networks)) {
    insert(root, toBits(network, ipVersion), size);
    const bytes = encode(record);
    data.push(bytes);
    size += bytes.length;
  }
  const nodes = listNodes(root);
  const metadata = {
    ...{ node_count: nodes.length, record_size: 24, ip_version: ipVersion },
    ...{ database_type: 'Test', binary_format_major_version: 2, binary_format_minor_version: 0 },
    build_epoch: 1_770_000_000,
  };
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([toTree(nodes), Buffer.alloc(16), ...data, marker, encode(metadata)]);
}

/** IPv4 addresses are below ::/96 in a tree of IPv6. */
function toBits(network: string, ipVersion: 4 | 6): number[] {
  const [address = '', length = ''] = network.split('/');
  const isV4 = isIPv4(address);
  const bytes = isV4 ? address.split('.').map(Number) : toBytes(address);
  const bits = bytes.flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map(Number));
  const before = isV4 && ipVersion === 6 ? Array.from({ length: 96 }, () => 0) : [];
  return [...before, ...bits.slice(0, Number(length))];
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

function insert(root: Node, bits: readonly number[], offset: number): void {
  let node = root;
  for (const bit of bits.slice(0, -1)) {
    const next = (node[bit as 0 | 1] ?? [undefined, undefined]) as Node;
    node[bit as 0 | 1] = next;
    node = next;
  }
  node[bits.at(-1) as 0 | 1] = offset;
}

function listNodes(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes) for (const child of node) if (Array.isArray(child)) nodes.push(child);
  return nodes;
}

/** A record is the number of a node, or after their count a place in the data; the count itself is nothing. */
function toTree(nodes: readonly Node[]): Buffer {
  const tree = Buffer.alloc(nodes.length * 6);
  const toRecord = (child: Node[0]) => {
    if (child === undefined) return nodes.length;
    return Array.isArray(child) ? nodes.indexOf(child) : nodes.length + 16 + child;
  };
  for (const [i, [left, right]] of nodes.entries()) {
    tree.writeUIntBE(toRecord(left), i * 6, 3);
    tree.writeUIntBE(toRecord(right), i * 6 + 3, 3);
  }
  return tree;
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

/** Sizes below 285 are enough for tests. */
function toControl(type: number, size: number): Buffer {
  return size < 29 ? Buffer.from([(type << 5) | size]) : Buffer.from([(type << 5) | 29, size - 29]);
}
