// SPDX-License-Identifier: Apache-2.0
import type { LockEvent } from "../api/types";
import type { Span } from "./span";

/** A hold or wait while its end is looked for. */
export interface Course {
  owner: string;
  span: Span;
  /** How often a re-entrant lock was entered. */
  depth: number;
  exclusive: boolean;
  /** Nobody told how it began: that is before what is kept. */
  isCutOff: boolean;
  /** When the lease ends unless it is renewed, as far as it was told. */
  lease_until: number | null;
}

/** An event with its time as a number, so that it is read only once. */
export interface Told extends LockEvent {
  time: number;
}

function newSpan(id: string, what: Span["what"], begin: number | null, end: number): Span {
  return {
    id, what, begin: begin ?? end, begin_known: begin !== null, end, outcome: "open", fence: null, mode: null,
    waited_since: null, claimed_until: null, reason: null, row: 0,
  };
}

export function course(owner: string, id: string, what: Span["what"], begin: number | null, end: number): Course {
  return { owner, span: newSpan(id, what, begin, end), depth: 1, exclusive: false, isCutOff: false, lease_until: null };
}
