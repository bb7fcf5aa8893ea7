const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

/** A number of bytes as text for people: `64 MiB`, `1.5 KiB`, `700 bytes`. */
export function toSizeText(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${Math.round(size * 10) / 10} ${UNITS[unit]}`;
}
