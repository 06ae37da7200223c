// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import type { LockEvent } from "../api/types";
import { lanes } from "./model";
import type { Grouping, LiveLock, Picture } from "./span";

/** What is known of a lock. */
export interface Seen {
  events: readonly LockEvent[];
  /** Who holds and waits; null where that is not known. */
  lock: LiveLock | null;
  /** When `lock` was read, by the server's clock. */
  seenAt: number;
  /** What to add to this browser's clock to get the server's, in milliseconds. */
  skew: number;
}

export interface Shown {
  picture: Picture;
  events: readonly LockEvent[];
  paused: boolean;
  /** Events that came since it was paused. */
  fresh: number;
  toggle: () => void;
}

/** The picture of the newest, or of what was the newest when somebody paused it. */
export function usePicture(latest: Seen, by: Grouping): Shown {
  const [frozen, setFrozen] = useState<Seen | null>(null);
  const { events, lock, seenAt, skew } = frozen ?? latest;
  const picture = useMemo(() => lanes(events, lock, Date.now() + skew, { by, seen_at: seenAt }), [events, lock, seenAt, by]);
  const last = frozen?.events.reduce((id, event) => Math.max(id, event.id), 0) ?? 0;
  const fresh = frozen === null ? 0 : latest.events.filter((event) => event.id > last).length;
  return { picture, events, paused: frozen !== null, fresh, toggle: () => { setFrozen(frozen === null ? latest : null); } };
}
