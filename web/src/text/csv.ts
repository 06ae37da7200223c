// SPDX-License-Identifier: Apache-2.0

/** A spreadsheet takes a cell that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** One cell per RFC 4180; text that a spreadsheet would run is made text by an apostrophe. */
export function cell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table with a header; lines end with CR LF, as the RFC wants it. */
export function csv(columns: readonly string[], rows: readonly (readonly (string | number | null | undefined)[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
