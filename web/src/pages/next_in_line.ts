// SPDX-License-Identifier: Apache-2.0
import type { Lock, Permits, Waiter } from "../api/types";

function fits(permits: Permits, free: number): boolean {
  return permits !== "all" && permits <= free;
}

/**
 * Who gets the lock when nobody holds it any more: the first in line, and with it whoever can hold
 * it at the same time. A waiter that does not fit stands in the way of those behind it.
 */
export function nextInLine(lock: Pick<Lock, "waiters" | "capacity">): Waiter[] {
  const [first] = lock.waiters;
  if (first === undefined) return [];
  if (first.mode === "exclusive") return [first];
  const next: Waiter[] = [];
  let free = lock.capacity ?? Infinity;
  for (const waiter of lock.waiters) {
    if (waiter.mode === "exclusive" || !fits(waiter.permits, free)) break;
    next.push(waiter);
    if (waiter.permits !== "all" && lock.capacity !== null) free -= waiter.permits;
  }
  return next;
}
