// Sizes and numbers for people.

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** `22 B`, `1.5 KiB`, `50 MiB`: units of 1024, as the command line and the limits of the gateway have them. */
export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 ** 2) return `${numbers.format(size / 1024)} KiB`;
  if (size < 1024 ** 3) return `${numbers.format(size / 1024 ** 2)} MiB`;
  return `${numbers.format(size / 1024 ** 3)} GiB`;
}

/** A whole number with thin spaces: 16 000. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ");
}
