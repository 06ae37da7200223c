// SPDX-License-Identifier: Apache-2.0
//
// What the picture of a lock is made of. Times are milliseconds since 1970 by the server's clock.
import type { EventType, Lock, Mode } from "../api/types";

export type Outcome =
  | "open"
  | "acquired"
  | "left"
  | "released"
  | "expired"
  | "lost"
  | "forced"
  /** The same owner went on under a new fence. */
  | "upgraded"
  /** It must have ended, but nobody told of it. */
  | "unseen";

export interface Span {
  id: string;
  what: "held" | "waiting";
  begin: number;
  /** False: it began before what is kept. */
  begin_known: boolean;
  end: number;
  outcome: Outcome;
  fence: number | null;
  mode: Mode | null;
  /** Of a hold: since when its owner had waited for it. */
  waited_since: number | null;
  /** Of a hold that was handed over: until when it was not confirmed by its owner. */
  claimed_until: number | null;
  reason: string | null;
  /** Spans of one lane that overlap are drawn in several rows. */
  row: number;
}

export type MarkType = Extract<EventType, "renewed" | "lost" | "forced" | "expired" | "deadlock" | "left">;

export interface Mark {
  id: string;
  type: MarkType;
  at: number;
  row: number;
  fence: number | null;
  reason: string | null;
  principal: string | null;
}

/** What is known of an owner; null where nobody said it. */
export interface Owner {
  key: string;
  host: string | null;
  pid: number | null;
  program: string | null;
  note: string | null;
  principal: string | null;
  party: string | null;
  fence: number | null;
}

export interface Lane {
  key: string;
  owner: Owner;
  /** How many owners share this lane: more than one where a process takes a fresh owner each time. */
  owners: number;
  spans: Span[];
  marks: Mark[];
  rows: number;
  holds: boolean;
  /** Its place in the queue from 1, or null. */
  position: number | null;
  last: number;
}

export interface HandOver {
  id: string;
  from: number;
  from_row: number;
  end: number;
  to: number;
  to_row: number;
  begin: number;
}

export interface Picture {
  lanes: Lane[];
  /** How many more owners there are, which are not drawn. */
  more: number;
  hand_overs: HandOver[];
  /** What belongs to the lock and to no owner. */
  marks: Mark[];
  begin: number;
  end: number;
}

export type Grouping = "owner" | "process";

export interface Options {
  by?: Grouping;
  /** When `lock` was read; now, unless told. */
  seen_at?: number;
}

export type LiveLock = Pick<Lock, "kind" | "holders" | "waiters">;
