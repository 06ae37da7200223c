// SPDX-License-Identifier: Apache-2.0

/** By hand: the browser's own formatter takes longer to make than the rest of a page's start. */
function grouped(value: number): string {
  return Math.round(value).toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "12,345", or a dash where nobody knows. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : grouped(value);
}

/** Per second: a digit behind the point while it is small. */
export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value > 0 && value < 10 ? value.toFixed(1) : grouped(value);
}

/** "1 lock", "2 locks". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`;
}
