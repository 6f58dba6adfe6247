// Sizes and numbers for people.

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 ** 2) return `${numbers.format(size / 1024)} KB`;
  if (size < 1024 ** 3) return `${numbers.format(size / 1024 ** 2)} MB`;
  return `${numbers.format(size / 1024 ** 3)} GB`;
}

/** A whole number with thin spaces: 16 000. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ");
}
