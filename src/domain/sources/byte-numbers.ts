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

/** Reads what the functions above wrote. */
export function createByteReader(bytes: Uint8Array) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const readNumber = (): number => {
    let byte = buffer[at++] as number;
    if (byte < 128) return byte;
    let value = byte - 128;
    for (let unit = 128; byte >= 128; unit *= 128) {
      byte = buffer[at++] as number;
      value += (byte % 128) * unit;
    }
    return value;
  };
  const readEnd = (): number => readNumber() + at;
  return {
    get at() {
      return at;
    },
    hasMore: () => at < buffer.length,
    readNumber,
    /** Where the bytes end whose length is next. */
    readEnd,
    readUint32: (): number => {
      at += 4;
      return buffer.readUInt32BE(at - 4);
    },
    /** Text of ASCII characters, of this length. */
    readText: (length: number): string => {
      at += length;
      return buffer.toString('latin1', at - length, at);
    },
    moveTo: (position: number) => {
      at = position;
    },
  };
}
