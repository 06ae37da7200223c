// SPDX-License-Identifier: Apache-2.0
//
// Brings what the events tell together with who holds and waits at this very moment. The two are
// read one after the other, so each may be a little ahead of the other.
import type { Holder, Waiter } from "../api/types";
import { course, type Course } from "./course";
import type { Fold } from "./fold";
import type { Owners } from "./owners";
import type { LiveLock } from "./span";

/** What differs for longer than this is no matter of which was read first. */
const SLACK_MS = 3000;

export class LiveState {
  constructor(
    private readonly fold: Fold,
    private readonly owners: Owners,
    private readonly seenAt: number,
    private readonly now: number,
    /** When the last event was: whatever ended untold did so before long. */
    private readonly lastTold: number,
  ) {}

  merge(lock: LiveLock): void {
    const held = new Map<number, Holder>();
    for (const holder of lock.holders) {
      const before = held.get(holder.fence);
      // Re-entries share a fence; the first of them is where the hold began.
      if (before === undefined || holder.held_ms > before.held_ms) held.set(holder.fence, holder);
    }
    for (const holder of held.values()) this.#mergeHolder(holder);
    for (const hold of this.fold.holds) this.#endUnseenHold(hold, held);
    this.#mergeWaiters(lock.waiters);
  }

  #mergeHolder(holder: Holder): void {
    const key = this.owners.keyOf(holder);
    this.owners.say(key, holder);
    const acquiredAt = Date.parse(holder.acquired_at);
    const begin = Number.isFinite(acquiredAt) ? acquiredAt : this.seenAt - holder.held_ms;
    const known = this.fold.holdOf(holder.fence);
    const hold = known ?? this.#newHold(key, holder, begin);
    if (known === undefined && !this.#makeWay(hold)) return;
    const { span } = hold;
    const reopens = span.outcome !== "open" && span.outcome !== "forced" && this.seenAt - span.end > SLACK_MS;
    if (reopens) span.outcome = "open";
    if (span.outcome !== "open") return;
    if (!span.begin_known) {
      span.begin = Math.min(begin, span.begin);
      span.begin_known = true;
    }
    span.mode ??= holder.mode;
    if (holder.claimed) span.claimed_until = this.now;
  }

  #newHold(key: string, holder: Holder, begin: number): Course {
    const hold = course(key, `h${holder.fence}`, "held", begin, Math.max(begin, this.now));
    hold.span.fence = holder.fence;
    hold.exclusive = holder.mode === "exclusive";
    hold.span.waited_since = this.#endWait(key, begin);
    this.fold.holds.push(hold);
    return hold;
  }

  /** Whoever holds it waits no more, although nobody told so yet. Since when it had waited, or null. */
  #endWait(key: string, end: number): number | null {
    const wait = this.fold.waits.find(({ owner, span }) => owner === key && span.outcome === "open" && span.begin <= end);
    if (wait === undefined) return null;
    wait.span.outcome = "acquired";
    wait.span.end = end;
    return wait.span.begin;
  }

  /**
   * Fences only grow: of two exclusive holds the one with the smaller fence ended before the other
   * began. False where that is the new one, so that it has ended already.
   */
  #makeWay(hold: Course): boolean {
    const fence = hold.span.fence ?? 0;
    for (const { span, exclusive } of this.fold.holds) {
      if (span === hold.span || span.fence === null || (!exclusive && !hold.exclusive)) continue;
      const [older, newer] = span.fence < fence ? [span, hold.span] : [hold.span, span];
      if (older.outcome !== "open") continue;
      older.outcome = "unseen";
      older.end = Math.max(older.begin, newer.begin);
    }
    return hold.span.outcome === "open";
  }

  #endUnseenHold(hold: Course, held: ReadonlyMap<number, Holder>): void {
    const { span } = hold;
    const isThere = span.fence === null || held.has(span.fence);
    if (span.outcome !== "open" || isThere || span.end > this.seenAt - SLACK_MS) return;
    span.outcome = "unseen";
    span.end = Math.max(span.begin, Math.min(this.seenAt, hold.lease_until ?? this.seenAt));
  }

  #mergeWaiters(waiters: readonly Waiter[]): void {
    const there = new Map<string, number>();
    for (const waiter of waiters) {
      const key = this.owners.keyOf(waiter);
      this.owners.say(key, waiter);
      there.set(key, (there.get(key) ?? 0) + 1);
    }
    const told = this.#openWaits(there);
    for (const waiter of waiters) {
      const key = this.owners.keyOf(waiter);
      const left = told.get(key) ?? 0;
      if (left > 0) told.set(key, left - 1);
      else this.#newWait(key, waiter);
    }
  }

  /** How many open waits of each owner the events tell of; those that nobody waits any more are ended. */
  #openWaits(there: ReadonlyMap<string, number>): Map<string, number> {
    const told = new Map<string, number>();
    for (const wait of this.fold.waits) {
      const { span, owner } = wait;
      if (span.outcome !== "open") continue;
      const before = told.get(owner) ?? 0;
      if (before < (there.get(owner) ?? 0) || span.begin > this.seenAt - SLACK_MS) {
        told.set(owner, before + 1);
      } else {
        span.outcome = "unseen";
        span.end = Math.max(span.begin, Math.min(this.seenAt, this.lastTold));
      }
    }
    return told;
  }

  #newWait(key: string, waiter: Waiter): void {
    const begin = this.seenAt - waiter.waiting_ms;
    const hasEnded = this.fold.waits.some((wait) =>
      wait.owner === key && wait.span.outcome !== "open" && Math.abs(wait.span.begin - begin) < SLACK_MS && wait.span.end > this.seenAt - SLACK_MS);
    if (hasEnded) return;
    const wait = course(key, `w ${key} ${this.fold.waits.length}`, "waiting", begin, this.now);
    wait.span.mode = waiter.mode;
    this.fold.addWait(wait);
  }
}
