// SPDX-License-Identifier: Apache-2.0
//
// Turns events, in the order in which they happened, into spans and marks. Nothing may be taken for
// granted: what was told before the first event that is kept is missing, and so is what came and
// went between two looks of the server.
import { course, type Course, type Told } from "./course";
import type { Mark, MarkType, Outcome } from "./span";
import { Waits } from "./waits";

export interface OwnedMark {
  owner: string | null;
  mark: Mark;
}

type Ending = Extract<Outcome, "released" | "expired" | "lost" | "forced">;

const BETWEEN_LOOKS_MS = 1000;

function isExclusive(event: Told): boolean {
  if (event.mode !== undefined) return event.mode === "exclusive";
  return event.kind === "mutex" || event.kind === "reentrant" || event.kind === "election";
}

export class Fold {
  readonly holds: Course[] = [];
  readonly marks: OwnedMark[] = [];
  readonly #waiting = new Waits();
  readonly #byFence = new Map<number, Course>();
  readonly #openHolds = new Set<Course>();

  constructor(private readonly reentrant: boolean) {}

  add(event: Told, owner: string | null): void {
    if (event.type === "deadlock") this.#mark(event, "deadlock", owner);
    else if (event.type === "forced") this.#forced(event, owner);
    else if (owner !== null) this.#addOwned(event, owner);
  }

  #addOwned(event: Told, owner: string): void {
    const at = event.time;
    if (event.type === "queued") this.#waiting.queued(event, owner);
    else if (event.type === "left") this.#left(event, owner);
    else if (event.type === "acquired") this.#acquired(event, owner, at);
    else if (event.type === "renewed") this.#renewed(event, owner, at);
    else if (event.type === "released" || event.type === "expired" || event.type === "lost") this.#ended(event, owner, event.type);
  }

  get waits(): readonly Course[] {
    return this.#waiting.all;
  }

  addWait(wait: Course): void {
    this.#waiting.all.push(wait);
  }

  holdOf(fence: number): Course | undefined {
    return this.#byFence.get(fence);
  }

  #left(event: Told, owner: string): void {
    if (this.#waiting.left(event, owner)) this.#mark(event, "left", owner);
  }

  #acquired(event: Told, owner: string, at: number): void {
    const before = event.fence === undefined ? undefined : this.#byFence.get(event.fence);
    if (before !== undefined) {
      this.#enteredAgain(before, event, at);
      return;
    }
    const wait = this.#waiting.acquired(event, owner);
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

  // Force takes the lock from everybody, and its one event carries a fence above all of theirs. The
  // next holder may have been told of before it, and then has made way for itself.
  #forced(event: Told, owner: string | null): void {
    const named = event.fence === undefined ? undefined : this.#byFence.get(event.fence);
    const limit = event.fence ?? Infinity;
    const isHit = ({ span }: Course): boolean =>
      (span.fence ?? 0) <= limit && (span.outcome === "open" || (span.outcome === "unseen" && span.end >= event.time - BETWEEN_LOOKS_MS));
    const hit = named !== undefined ? [named] : this.holds.filter(isHit);
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

  #mark(event: Told, type: MarkType, owner: string | null, fence = event.fence ?? null): void {
    const mark: Mark = {
      id: `m${event.id}.${fence ?? ""}`, type, at: event.time, row: 0,
      fence, reason: event.reason ?? null, principal: event.principal ?? null,
    };
    this.marks.push({ owner, mark });
  }
}
