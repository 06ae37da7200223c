// SPDX-License-Identifier: Apache-2.0
//
// One lock as the page knows it, and what an event makes of it. Rows are never changed in place, so
// that two of them are the same exactly if nothing happened between them.
import type { Holder, Kind, Lock, LockEvent, Member, Mode, Permits, Said, Waiter } from "../api/types";

/** A holder, with its times on our own monotonic clock. */
export interface Held extends Said {
  fence: number;
  permits: Permits;
  mode: Mode;
  party: string | null;
  claimed: boolean;
  value: string | null;
  acquired_at: string;
  since: number;
  /** When its lease ends; null where nobody said so. */
  expires_at: number | null;
  /** The most that was ever left of its lease: a full bar. */
  span: number;
}

export interface Waiting extends Said {
  permits: Permits;
  mode: Mode;
  party: string | null;
  since: number;
}

export interface Row {
  name: string;
  kind: Kind;
  capacity: number | null;
  order: Lock["order"];
  holders: readonly Held[];
  /** The next in line first. */
  waiters: readonly Waiting[];
  members: readonly Member[] | null;
}

/** What an event makes of a row: null where nobody holds or waits any more. */
export interface Outcome {
  row: Row | null;
  /** The event did not say enough: only the server knows how the lock stands now. */
  dirty: boolean;
}

function heldOf(holder: Holder, before: Held | undefined, now: number): Held {
  return {
    host: holder.host,
    pid: holder.pid,
    program: holder.program,
    source: holder.source,
    note: holder.note,
    fence: holder.fence,
    permits: holder.permits,
    mode: holder.mode,
    party: holder.party,
    claimed: holder.claimed,
    value: holder.value ?? null,
    acquired_at: holder.acquired_at,
    since: now - holder.held_ms,
    expires_at: now + holder.expires_in_ms,
    span: Math.max(before?.span ?? 0, holder.expires_in_ms),
  };
}

function waitingOf(waiter: Waiter, now: number): Waiting {
  return {
    host: waiter.host,
    pid: waiter.pid,
    program: waiter.program,
    source: waiter.source,
    note: waiter.note,
    permits: waiter.permits,
    mode: waiter.mode,
    party: waiter.party,
    since: now - waiter.waiting_ms,
  };
}

/** The row of a listed lock; spans are carried over from the row before it. */
export function rowOf(lock: Lock, before: Row | undefined, now: number): Row {
  return {
    name: lock.name,
    kind: lock.kind,
    capacity: lock.capacity,
    order: lock.order,
    holders: lock.holders.map((holder) => heldOf(holder, before?.holders.find((held) => held.fence === holder.fence), now)),
    waiters: lock.waiters.map((waiter) => waitingOf(waiter, now)),
    members: lock.members ?? null,
  };
}

function saidBy(event: LockEvent): Said {
  return {
    host: event.host ?? null,
    pid: event.pid ?? null,
    program: event.program ?? null,
    source: null,
    note: event.note ?? null,
  };
}

function permitsOf(event: LockEvent, kind: Kind): Permits {
  return kind !== "semaphore" && event.mode !== "shared" ? "all" : 1;
}

function emptyRow(event: LockEvent): Row {
  return { name: event.name, kind: event.kind ?? "mutex", capacity: null, order: "automatic", holders: [], waiters: [], members: null };
}

function settled(row: Row, dirty = false): Outcome {
  return { row: row.holders.length === 0 && row.waiters.length === 0 ? null : row, dirty };
}

/** The queue without the one who was just granted the lock. */
function withoutGranted(waiters: readonly Waiting[], event: LockEvent): readonly Waiting[] {
  let at = -1;
  if (event.party !== undefined) at = waiters.findIndex((waiter) => waiter.party === event.party);
  else if ((event.waited_ms ?? 0) > 0) at = waiters.length > 0 ? 0 : -1;
  return at < 0 ? waiters : waiters.filter((_, i) => i !== at);
}

function granted(row: Row, event: LockEvent, fence: number, now: number): Held {
  const left = event.expires_in_ms;
  return {
    ...saidBy(event),
    fence,
    permits: permitsOf(event, row.kind),
    mode: event.mode ?? "exclusive",
    party: event.party ?? null,
    claimed: false,
    value: null,
    acquired_at: event.at,
    since: now,
    expires_at: left === undefined ? null : now + left,
    span: left ?? 0,
  };
}

function onAcquired(before: Row | undefined, event: LockEvent, now: number): Outcome {
  if (event.fence === undefined) return { row: before ?? null, dirty: true };
  const fence = event.fence;
  const row = before ?? emptyRow(event);
  const waiters = withoutGranted(row.waiters, event);
  if (row.holders.some((held) => held.fence === fence)) return settled(waiters === row.waiters ? row : { ...row, waiters });
  let holders = row.holders;
  if (event.kind !== undefined && event.kind !== "semaphore" && event.mode !== "shared") {
    // Whoever holds it alone came after all others: an older grant that is told late is over already.
    if (holders.some((held) => held.fence > fence)) return settled({ ...row, waiters });
    holders = [];
  }
  const held = granted(row, event, fence, now);
  const unsure = held.expires_at === null || (before === undefined && event.kind === undefined);
  return settled({ ...row, holders: [...holders, held], waiters }, unsure);
}

function onQueued(before: Row | undefined, event: LockEvent, now: number): Outcome {
  if (event.party === undefined) return { row: before ?? null, dirty: true };
  const row = before ?? emptyRow(event);
  if (row.waiters.some((waiter) => waiter.party === event.party)) return settled(row);
  const waiter: Waiting = {
    ...saidBy(event),
    permits: permitsOf(event, row.kind),
    mode: event.mode ?? "exclusive",
    party: event.party,
    since: now,
  };
  return settled({ ...row, waiters: [...row.waiters, waiter] }, before === undefined && event.kind === undefined);
}

function onLeft(row: Row, event: LockEvent): Outcome {
  if (event.party === undefined) return { row, dirty: true };
  return settled({ ...row, waiters: row.waiters.filter((waiter) => waiter.party !== event.party) });
}

function onRenewed(row: Row | undefined, event: LockEvent, now: number): Outcome {
  const at = row?.holders.findIndex((held) => held.fence === event.fence) ?? -1;
  const held = row?.holders[at];
  if (!row || !held || event.expires_in_ms === undefined) return { row: row ?? null, dirty: true };
  const expires_at = Math.max(held.expires_at ?? 0, now + event.expires_in_ms);
  const renewed: Held = { ...held, expires_at, span: Math.max(held.span, event.expires_in_ms), claimed: false };
  return { row: { ...row, holders: row.holders.map((other, i) => (i === at ? renewed : other)) }, dirty: false };
}

function onEnded(row: Row, event: LockEvent): Outcome {
  const fence = event.fence;
  if (fence === undefined) return { row, dirty: true };
  // An owner that entered several times may have left only once; the event does not tell.
  if (row.kind === "reentrant" && event.type === "released") return { row, dirty: true };
  const over = (held: Held) => (event.type === "forced" ? held.fence <= fence : held.fence === fence);
  return settled({ ...row, holders: row.holders.filter((held) => !over(held)) });
}

/** Pure: what the event makes of the row. `now` is when it happened, on our monotonic clock. */
export function applyTo(row: Row | undefined, event: LockEvent, now: number): Outcome {
  switch (event.type) {
    case "acquired":
      return onAcquired(row, event, now);
    case "queued":
      return onQueued(row, event, now);
    case "renewed":
      return onRenewed(row, event, now);
    case "left":
      return row ? onLeft(row, event) : { row: null, dirty: false };
    case "released":
    case "expired":
    case "lost":
    case "forced":
      return row ? onEnded(row, event) : { row: null, dirty: false };
    case "store_changed":
    case "deadlock":
      return { row: row ?? null, dirty: false };
  }
}
