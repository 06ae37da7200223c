// SPDX-License-Identifier: Apache-2.0
import type { Kind } from "../api/types";

export const KINDS: readonly { kind: Kind; title: string }[] = [
  { kind: "mutex", title: "mutex" },
  { kind: "reentrant", title: "reentrant" },
  { kind: "read_write", title: "read-write" },
  { kind: "semaphore", title: "semaphore" },
  { kind: "election", title: "election" },
];

export function kindTitle(kind: Kind): string {
  return KINDS.find((one) => one.kind === kind)?.title ?? kind;
}

/** Of what stands in a <select>; null: every kind. */
export function kindOf(text: string): Kind | null {
  return KINDS.find((one) => one.kind === text)?.kind ?? null;
}
