// SPDX-License-Identifier: Apache-2.0

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** "12,345", or a dash where nobody knows. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : grouped.format(value);
}

/** Per second: a digit behind the point while it is small. */
export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value > 0 && value < 10 ? value.toFixed(1) : grouped.format(value);
}

/** "1 lock", "2 locks". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${grouped.format(value)} ${value === 1 ? one : many}`;
}
