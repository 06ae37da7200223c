// SPDX-License-Identifier: Apache-2.0
//
// Events, holders and waiters of one lock, for the tests of its timeline.
import type { EventType, Holder, LockEvent, Waiter } from "../src/api/types";
import type { Lane, LiveLock, Picture, Span } from "../src/timeline/span";

export const T0 = Date.parse("2026-11-15T21:30:00.000Z");
let nextId = 1;

export function event(type: EventType, at: number, more: Partial<LockEvent> = {}): LockEvent {
  return { id: nextId++, type, name: "orders:42", at: new Date(T0 + at).toISOString(), source: "server", kind: "mutex", mode: "exclusive", ...more };
}

const nobody = { host: null, pid: null, program: null, source: null, note: null };

export function holder(more: Partial<Holder>): Holder {
  const held_ms = more.held_ms ?? 0;
  return { ...nobody, fence: 1, permits: "all", mode: "exclusive", party: null, claimed: false, expires_in_ms: 30000, acquired_at: "", held_ms, ...more };
}

export function waiter(more: Partial<Waiter>): Waiter {
  return { ...nobody, permits: "all", mode: "exclusive", party: null, waiting_ms: 0, ...more };
}

export const live = (holders: Holder[], waiters: Waiter[] = []): LiveLock => ({ kind: "mutex", holders, waiters });

export function lane(picture: Picture, party: string): Lane {
  const found = picture.lanes.find((each) => each.key === `party ${party}`);
  if (found === undefined) throw new Error(`no lane of ${party} among ${picture.lanes.map((each) => each.key).join(", ")}`);
  return found;
}

export const relative = (span: Span): [string, number, number, string] => [span.what, span.begin - T0, span.end - T0, span.outcome];
export const spans = (picture: Picture, party: string): [string, number, number, string][] => lane(picture, party).spans.map(relative);
