// SPDX-License-Identifier: Apache-2.0
//
// The waits among the events of a lock: when they began, and whether they were worth it.
import { course, type Course, type Told } from "./course";
import type { Outcome, Span } from "./span";

const SAME_WAIT_MS = 1000;
const BETWEEN_LOOKS_MS = 1000;

export class Waits {
  readonly all: Course[] = [];
  readonly #open = new Map<string, Course[]>();
  readonly #acquiredAt = new Map<string, number>();

  queued(event: Told, owner: string): void {
    const waits = this.#openOf(owner);
    // An owner waits once; only where several hide behind one name may there be more waits.
    if (waits.length > 0 && event.party !== undefined) return;
    const wait = course(owner, `w${event.id}`, "waiting", event.time, event.time);
    wait.span.mode = event.mode ?? null;
    this.all.push(wait);
    waits.push(wait);
  }

  /** Since when the new holder had waited, if it had. */
  acquired(event: Told, owner: string): Span | null {
    const wait = this.#end(event, owner, "acquired");
    this.#acquiredAt.set(owner, event.time);
    return wait;
  }

  /** False where it cannot be. */
  left(event: Told, owner: string): boolean {
    if (this.#hasAcquired(event, owner)) return false;
    this.#end(event, owner, "left");
    return true;
  }

  // Whoever looks twice a second may take one that was granted the lock and gave it back in between
  // for one that gave up.
  #hasAcquired(event: Told, owner: string): boolean {
    const acquired = this.#acquiredAt.get(owner);
    if (event.party === undefined || acquired === undefined || this.#openOf(owner).length > 0) return false;
    return acquired >= event.time - (event.waited_ms ?? BETWEEN_LOOKS_MS);
  }

  /** The wait that ends with `event`; made up from what the event says where its begin is not kept. */
  #end(event: Told, owner: string, outcome: "acquired" | "left"): Span | null {
    const wait = this.#take(event, owner) ?? this.#untold(event, owner, outcome);
    if (wait === null) return null;
    wait.span.end = Math.max(event.time, wait.span.begin);
    wait.span.outcome = outcome;
    wait.span.reason = event.reason ?? null;
    return wait.span;
  }

  #take(event: Told, owner: string): Course | null {
    const waits = this.#openOf(owner);
    if (waits.length === 0) return null;
    if (event.party !== undefined || event.waited_ms === undefined) return waits.shift() ?? null;
    const began = event.time - event.waited_ms;
    const index = waits.findIndex((wait) => Math.abs(wait.span.begin - began) <= SAME_WAIT_MS);
    return index < 0 ? null : (waits.splice(index, 1)[0] ?? null);
  }

  #untold(event: Told, owner: string, outcome: Outcome): Course | null {
    const waited = event.waited_ms ?? 0;
    if (waited <= 0 && outcome !== "left") return null;
    const wait = course(owner, `w${event.id}`, "waiting", event.waited_ms === undefined ? null : event.time - waited, event.time);
    wait.span.mode = event.mode ?? null;
    this.all.push(wait);
    return wait;
  }

  #openOf(owner: string): Course[] {
    let waits = this.#open.get(owner);
    if (waits === undefined) this.#open.set(owner, (waits = []));
    return waits;
  }
}
