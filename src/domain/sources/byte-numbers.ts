/* Whole numbers in few bytes: seven bits in each, the lowest first, and the eighth bit set in all but the last. */

/** Writes into one growing piece of memory: pushing bytes to an array takes twice as long. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(1024);
  #length = 0;

  /** What was written. Valid until more is written. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  writeByte(byte: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** `value` is a safe integer of 0 or more. */
  writeNumber(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.writeByte((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    this.writeByte(rest);
  }

  /** Writes the length of the bytes, and the bytes. */
  writeBytes(bytes: Uint8Array): void {
    this.writeNumber(bytes.length);
    if (this.#length + bytes.length > this.#bytes.length) this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #grow(by: number): void {
    const grown = Buffer.allocUnsafe(2 * this.#bytes.length + by);
    grown.set(this.bytes);
    this.#bytes = grown;
  }
}

/** Reads what a `ByteWriter` wrote. A class, because its methods are inlined and those of an object are not. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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

  readBytes(): Buffer {
    const end = this.readEnd();
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  readByte(): number {
    const byte = this.#bytes[this.#at] as number;
    this.#at += 1;
    return byte;
  }

  moveTo(position: number): void {
    this.#at = position;
  }
}
