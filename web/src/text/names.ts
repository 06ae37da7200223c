// SPDX-License-Identifier: Apache-2.0
//
// Names come from strangers. What cannot be seen, or turns the text around it, is spelt out.

/**
 * Control characters, those that steer the direction of text, those of no width, and spaces that
 * look like others. A backslash that is really there stays: the component marks what is an escape.
 */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/gu;

const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" };

function escape(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return SHORT[char] ?? (code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`);
}

/** The text with everything invisible as an escape: a bidi override becomes "\u202e". */
export function visible(text: string): string {
  return text.replace(UNSEEN, escape);
}

/** Whether there is something that `visible` would spell out. */
export function hasUnseen(text: string): boolean {
  return text.search(UNSEEN) >= 0;
}

export interface Piece {
  text: string;
  escaped: boolean;
}

/** The same in pieces, so that what is an escape can look like one. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) found.push({ text: text.slice(from, match.index), escaped: false });
    found.push({ text: escape(match[0]), escaped: true });
    from = match.index + match[0].length;
  }
  if (from < text.length || found.length === 0) found.push({ text: text.slice(from), escaped: false });
  return found;
}

/** UTF-8, as the server counts. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
