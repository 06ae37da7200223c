// SPDX-License-Identifier: Apache-2.0
import type { Lock, LockEvent } from "../api/types";

/** More events than this are no picture any more; the oldest are forgotten. */
export const MOST_EVENTS = 2000;

/** Both together, each once, in the order of their ids; the same array where nothing is new. */
export function mergeEvents(kept: readonly LockEvent[], fresh: readonly LockEvent[], most = MOST_EVENTS): readonly LockEvent[] {
  const known = new Set(kept.map((event) => event.id));
  const added = fresh.filter((event) => {
    if (known.has(event.id)) return false;
    known.add(event.id);
    return true;
  });
  if (added.length === 0) return kept;
  return [...kept, ...added].sort((a, b) => a.id - b.id).slice(-most);
}

/** How far the server's clock is ahead of ours, from a lock that was read at `readAt` by ours; null where it does not tell. */
export function skewOfLock(lock: Pick<Lock, "holders"> | null, readAt: number): number | null {
  const holder = lock?.holders[0];
  if (holder === undefined) return null;
  const skew = Date.parse(holder.acquired_at) + holder.held_ms - readAt;
  return Number.isFinite(skew) ? skew : null;
}

/** The same from events that came just now: none of them can be from the future. */
export function skewOfEvents(events: readonly LockEvent[], now: number): number | null {
  const newest = Math.max(...events.map((event) => Date.parse(event.at)).filter(Number.isFinite));
  return Number.isFinite(newest) ? newest - now : null;
}
