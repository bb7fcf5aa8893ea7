/* Whole numbers in few bytes: seven bits in each, the lowest first, and the eighth bit set in all but the last. */

/** `value` is a safe integer of 0 or more. */
export function writeNumber(to: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    to.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  to.push(rest);
}

/** Writes the length of the bytes, and the bytes. */
export function writeBytes(
  to: number[],
  bytes: Iterable<number> & { readonly length: number },
): void {
  writeNumber(to, bytes.length);
  for (const byte of bytes) to.push(byte);
}

/** Reads what the functions above wrote. A class, because its methods are inlined and those of an object are not. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get at(): number {
    return this.#at;
  }

  hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  readNumber(): number {
    let byte = this.readByte();
    if (byte < 128) return byte;
    let value = byte - 128;
    for (let unit = 128; byte >= 128; unit *= 128) {
      byte = this.readByte();
      value += (byte % 128) * unit;
    }
    return value;
  }

  /** Where the bytes end whose length is next. */
  readEnd(): number {
    return this.readNumber() + this.#at;
  }

  readByte(): number {
    const byte = this.#bytes[this.#at] as number;
    this.#at += 1;
    return byte;
  }

  /** Text of ASCII characters, of this length. */
  readText(length: number): string {
    const start = this.#at;
    this.#at += length;
    return String.fromCharCode(...this.#bytes.subarray(start, this.#at));
  }

  moveTo(position: number): void {
    this.#at = position;
  }
}
