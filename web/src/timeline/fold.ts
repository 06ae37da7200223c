// SPDX-License-Identifier: Apache-2.0
//
// Turns events, in the order in which they happened, into spans and marks. Nothing may be taken for
// granted: what was told before the first event that is kept is missing, and so is what came and
// went between two looks of the server.
import type { LockEvent } from "../api/types";
import type { Mark, MarkType, Outcome, Span } from "./span";

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

export interface OwnedMark {
  owner: string | null;
  mark: Mark;
}

type Ending = Extract<Outcome, "released" | "expired" | "lost" | "forced">;

const SAME_WAIT_MS = 1000;

/** An event with its time as a number, so that it is read only once. */
export interface Told extends LockEvent {
  time: number;
}

function isExclusive(event: Told): boolean {
  if (event.mode !== undefined) return event.mode === "exclusive";
  return event.kind === "mutex" || event.kind === "reentrant" || event.kind === "election";
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

export class Fold {
  readonly holds: Course[] = [];
  readonly waits: Course[] = [];
  readonly marks: OwnedMark[] = [];
  readonly #byFence = new Map<number, Course>();
  readonly #openHolds = new Set<Course>();
  readonly #openWaits = new Map<string, Course[]>();

  constructor(private readonly reentrant: boolean) {}

  add(event: Told, owner: string | null): void {
    if (event.type === "deadlock") this.#mark(event, "deadlock", owner);
    else if (event.type === "forced") this.#forced(event, owner);
    else if (owner !== null) this.#addOwned(event, owner);
  }

  #addOwned(event: Told, owner: string): void {
    const at = event.time;
    if (event.type === "queued") this.#queued(event, owner, at);
    else if (event.type === "left") this.#left(event, owner, at);
    else if (event.type === "acquired") this.#acquired(event, owner, at);
    else if (event.type === "renewed") this.#renewed(event, owner, at);
    else if (event.type === "released" || event.type === "expired" || event.type === "lost") this.#ended(event, owner, event.type);
  }

  holdOf(fence: number): Course | undefined {
    return this.#byFence.get(fence);
  }

  #queued(event: Told, owner: string, at: number): void {
    const waits = this.#waitsOf(owner);
    // An owner waits once; only where several hide behind one name may there be more waits.
    if (waits.length > 0 && event.party !== undefined) return;
    const wait = course(owner, `w${event.id}`, "waiting", at, at);
    wait.span.mode = event.mode ?? null;
    this.waits.push(wait);
    waits.push(wait);
  }

  #left(event: Told, owner: string, at: number): void {
    this.#endWait(event, owner, at, "left");
    this.#mark(event, "left", owner);
  }

  /** The wait that ends with `event`; made up from what the event says where its begin is not kept. */
  #endWait(event: Told, owner: string, at: number, outcome: "acquired" | "left"): Span | null {
    const wait = this.#takeWait(event, owner, at) ?? this.#untoldWait(event, owner, at, outcome);
    if (wait === null) return null;
    wait.span.end = Math.max(at, wait.span.begin);
    wait.span.outcome = outcome;
    wait.span.reason = event.reason ?? null;
    return wait.span;
  }

  #takeWait(event: Told, owner: string, at: number): Course | null {
    const waits = this.#waitsOf(owner);
    if (waits.length === 0) return null;
    if (event.party !== undefined || event.waited_ms === undefined) return waits.shift() ?? null;
    const began = at - event.waited_ms;
    const index = waits.findIndex((wait) => Math.abs(wait.span.begin - began) <= SAME_WAIT_MS);
    return index < 0 ? null : (waits.splice(index, 1)[0] ?? null);
  }

  #untoldWait(event: Told, owner: string, at: number, outcome: Outcome): Course | null {
    const waited = event.waited_ms ?? 0;
    if (waited <= 0 && outcome !== "left") return null;
    const wait = course(owner, `w${event.id}`, "waiting", event.waited_ms === undefined ? null : at - waited, at);
    wait.span.mode = event.mode ?? null;
    this.waits.push(wait);
    return wait;
  }

  #acquired(event: Told, owner: string, at: number): void {
    const wait = this.#endWait(event, owner, at, "acquired");
    const before = event.fence === undefined ? undefined : this.#byFence.get(event.fence);
    if (before !== undefined) {
      this.#enteredAgain(before, event, at);
      return;
    }
    const hold = course(owner, event.fence === undefined ? `h${event.id}` : `h${event.fence}`, "held", at, at);
    hold.exclusive = isExclusive(event);
    hold.span.mode = event.mode ?? null;
    hold.span.waited_since = wait?.begin ?? null;
    this.#makeWayFor(hold);
    this.#extendLease(hold, event, at);
    this.#open(hold, event.fence ?? null);
  }

  // The same fence again is the same lease: entered once more, or told twice.
  #enteredAgain(hold: Course, event: Told, at: number): void {
    if (hold.span.outcome === "open" && this.reentrant) hold.depth += 1;
    this.#extendLease(hold, event, at);
  }

  // Whoever is in the way of a new holder has gone, even if nobody told so.
  #makeWayFor(hold: Course): void {
    for (const other of this.#openHolds) {
      if (!hold.exclusive && !other.exclusive) continue;
      this.#close(other, hold.span.begin, other.owner === hold.owner ? "upgraded" : "unseen");
    }
  }

  #renewed(event: Told, owner: string, at: number): void {
    const hold = this.#meant(event, owner) ?? this.#untoldHold(event, owner, null, at);
    if (hold.span.outcome === "open") hold.span.end = at;
    this.#extendLease(hold, event, at);
    this.#mark(event, "renewed", owner);
  }

  #ended(event: Told, owner: string, how: Ending): void {
    const at = event.time;
    const began = event.held_ms === undefined ? null : at - event.held_ms;
    const hold = this.#meant(event, owner) ?? this.#untoldHold(event, owner, began, at);
    if (how !== "released") this.#mark(event, how, owner);
    if (how === "released" && hold.depth > 1 && hold.span.outcome === "open") {
      hold.depth -= 1;
      return;
    }
    if (!hold.span.begin_known && began !== null) {
      hold.span.begin = Math.min(hold.span.begin, began);
      hold.span.begin_known = true;
    }
    this.#close(hold, at, how, event.reason ?? null);
  }

  // Force takes the lock from everybody, and its one event carries a fence above all of theirs.
  #forced(event: Told, owner: string | null): void {
    const named = event.fence === undefined ? undefined : this.#byFence.get(event.fence);
    const limit = event.fence ?? Infinity;
    const hit = named !== undefined ? [named] : [...this.#openHolds].filter((hold) => (hold.span.fence ?? 0) <= limit);
    for (const hold of hit) {
      this.#mark(event, "forced", hold.owner, hold.span.fence);
      this.#close(hold, event.time, "forced", event.reason ?? null);
    }
    if (hit.length === 0) this.#mark(event, "forced", owner);
  }

  #close(hold: Course, at: number, how: Outcome, reason: string | null = null): void {
    const { span } = hold;
    if (span.outcome === "open") {
      span.end = Math.max(at, span.begin);
    } else if (span.outcome === "unseen") {
      // The next holder was told of before this end was: it cannot have lasted longer than that.
      span.end = Math.max(Math.min(at, span.end), span.begin);
    } else {
      return;
    }
    span.outcome = how;
    span.reason ??= reason;
    this.#openHolds.delete(hold);
  }

  #open(hold: Course, fence: number | null): void {
    hold.span.fence = fence;
    this.holds.push(hold);
    this.#openHolds.add(hold);
    if (fence !== null) this.#byFence.set(fence, hold);
  }

  #untoldHold(event: Told, owner: string, begin: number | null, at: number): Course {
    const id = event.fence === undefined ? `h${event.id}` : `h${event.fence}`;
    const hold = course(owner, id, "held", begin, at);
    hold.isCutOff = true;
    hold.exclusive = isExclusive(event);
    hold.span.mode = event.mode ?? null;
    this.#open(hold, event.fence ?? null);
    return hold;
  }

  #meant(event: Told, owner: string): Course | undefined {
    if (event.fence !== undefined) return this.#byFence.get(event.fence);
    for (const hold of this.#openHolds) if (hold.owner === owner) return hold;
    return undefined;
  }

  #extendLease(hold: Course, event: Told, at: number): void {
    if (event.expires_in_ms !== undefined) hold.lease_until = at + event.expires_in_ms;
  }

  #waitsOf(owner: string): Course[] {
    let waits = this.#openWaits.get(owner);
    if (waits === undefined) this.#openWaits.set(owner, (waits = []));
    return waits;
  }

  #mark(event: Told, type: MarkType, owner: string | null, fence = event.fence ?? null): void {
    const mark: Mark = {
      id: `m${event.id}.${fence ?? ""}`, type, at: event.time, row: 0,
      fence, reason: event.reason ?? null, principal: event.principal ?? null,
    };
    this.marks.push({ owner, mark });
  }
}
