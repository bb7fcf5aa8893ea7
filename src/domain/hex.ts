/** Hashes are bytes in the database, and hex elsewhere. */
export function toBytes(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
