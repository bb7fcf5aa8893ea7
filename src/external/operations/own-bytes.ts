/**
 * Bytes with memory of their own, for what is kept. Those of `Buffer.from` are a slice of 64 KiB that small buffers
 * share, and those of node:zlib one of 16 KiB: who keeps the slice keeps all of it.
 */
export function toOwnBytes(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
