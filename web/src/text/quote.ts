// SPDX-License-Identifier: Apache-2.0
//
// Names as literals of a shell and of C++. Whatever is invisible is written as bytes, so that what
// one copies is what one sees.
import { UNSEEN, hasUnseen } from "./names";

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, "0")}`;
}

function octals(text: string): string {
  return Array.from(new TextEncoder().encode(text), octal).join("");
}

/** One word of a shell: bare where nothing needs a quote, 'single' otherwise, $'…' of bash and zsh where something is invisible. */
export function shellWord(text: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]+$/.test(text) && !text.startsWith("=")) return text;
  if (!hasUnseen(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${text.replace(/[\\']/g, "\\$&").replace(UNSEEN, octals)}'`;
}

/** A string literal of C++; three octal digits end by themselves, which \x would not. */
export function cppString(text: string): string {
  const body = text.replace(/[\\"]/g, "\\$&").replace(UNSEEN, octals);
  // A zero ends a plain literal, but not a view.
  return text.includes("\0") ? `"${body}"sv` : `"${body}"`;
}

/** JSON with everything invisible as \u escapes. */
export function jsonText(value: object): string {
  return JSON.stringify(value).replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  );
}
