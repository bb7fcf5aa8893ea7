import { toClientNetwork } from './client-address.ts';
import { toSiteNetwork } from './network-address.ts';

interface Place {
  /** What limits count the address under. */
  readonly client: string;
  /** undefined for a connection that never ends for another. */
  readonly network: string | undefined;
  usedAtMs: number;
}

/**
 * The connections that have the places of a server. When all are taken, the one ends that was silent longest in the
 * network that has most of them, so that a few networks cannot keep all others out.
 */
export class OpenConnections<T> {
  readonly #nowMs: () => number;
  readonly #places = new Map<T, Place>();
  readonly #counts = new Map<string, number>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#places.size;
  }

  /** How many the address has, without those that never end for another. */
  countOf(address: string): number {
    return this.#counts.get(toClientNetwork(address)) ?? 0;
  }

  open(connection: T, address: string, { isTrusted }: { readonly isTrusted: boolean }): void {
    const client = toClientNetwork(address);
    const network = isTrusted ? undefined : toSiteNetwork(address);
    this.#places.set(connection, { client, network, usedAtMs: this.#nowMs() });
    if (!isTrusted) this.#counts.set(client, this.countOf(address) + 1);
  }

  /** The client sent a request or a command. */
  use(connection: T): void {
    const place = this.#places.get(connection);
    if (place !== undefined) place.usedAtMs = this.#nowMs();
  }

  close(connection: T): void {
    const { client = '', network } = this.#places.get(connection) ?? {};
    this.#places.delete(connection);
    if (network === undefined) return;
    const left = (this.#counts.get(client) ?? 0) - 1;
    if (left > 0) this.#counts.set(client, left);
    else this.#counts.delete(client);
  }

  /** `mayEnd` is told for how long the client has sent no request or command. */
  findToEnd(mayEnd: (connection: T, silentMs: number) => boolean): T | undefined {
    const counts = this.#countNetworks();
    const nowMs = this.#nowMs();
    let found: { connection: T; count: number; usedAtMs: number } | undefined;
    for (const [connection, { network = '', usedAtMs }] of this.#places) {
      const count = counts.get(network);
      if (count === undefined) continue;
      const { count: most = 0, usedAtMs: earliest = 0 } = found ?? {};
      const isNext = count > most || (count === most && usedAtMs < earliest);
      if (isNext && mayEnd(connection, nowMs - usedAtMs)) found = { connection, count, usedAtMs };
    }
    return found?.connection;
  }

  #countNetworks(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { network } of this.#places.values())
      if (network !== undefined) counts.set(network, (counts.get(network) ?? 0) + 1);
    return counts;
  }
}
