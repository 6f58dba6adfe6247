// Numbers, amounts of money and sizes, formatted in the locale of the browser.

const formats = new Map<string, Intl.NumberFormat>();

function format(value: number, options: Intl.NumberFormatOptions): string {
  const key = JSON.stringify(options);
  const known = formats.get(key) ?? new Intl.NumberFormat(undefined, options);
  formats.set(key, known);
  return known.format(value);
}

/** Formats a number with the thousands separators of the locale: `16,000`. Rounds to `digits` decimal places. */
export function count(value: number, digits = 0): string {
  return format(value, { maximumFractionDigits: digits });
}

/** Formats US dollars with a fixed number of decimal places: `$1,240.50`. */
export function dollars(value: number, digits = 2): string {
  return format(value, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** Formats a size in units of 1024, as the command line and the limits of the gateway do: `22 B`, `1.5 KiB`, `50 MiB`. */
export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 ** 2) return `${count(size / 1024, 1)} KiB`;
  if (size < 1024 ** 3) return `${count(size / 1024 ** 2, 1)} MiB`;
  return `${count(size / 1024 ** 3, 1)} GiB`;
}
