const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** A size that one can read: `12.4 MB`. */
export function bytes(count: number): string {
  let value = Math.max(0, count);
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
