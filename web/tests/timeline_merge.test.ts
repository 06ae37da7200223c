// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { LockEvent } from "../src/api/types";
import { mergeEvents, skewOfEvents, skewOfLock } from "../src/timeline/merge";

const event = (id: number, at = "2026-11-15T21:30:00.000Z"): LockEvent => ({ id, type: "renewed", name: "a", at, source: "server" });
const ids = (events: readonly LockEvent[]): number[] => events.map((each) => each.id);

describe("events from two sources", () => {
  it("are there once, in the order of their ids", () => {
    expect(ids(mergeEvents([event(1), event(4)], [event(4), event(3), event(5), event(3)]))).toEqual([1, 3, 4, 5]);
  });

  it("are the same array where nothing is new", () => {
    const kept = [event(1), event(2)];
    expect(mergeEvents(kept, [event(2), event(1)])).toBe(kept);
  });

  it("are not kept without end", () => {
    expect(ids(mergeEvents([event(1), event(2)], [event(3), event(4)], 3))).toEqual([2, 3, 4]);
  });
});

describe("the server's clock", () => {
  const readAt = Date.parse("2026-11-15T21:30:10.000Z");
  const holder = {
    fence: 1, permits: "all", mode: "exclusive", party: null, claimed: false, expires_in_ms: 1, held_ms: 4000,
    host: null, pid: null, program: null, source: null, note: null, acquired_at: "2026-11-15T21:30:09.000Z",
  } as const;

  it("is known from how long a lock has been held", () => {
    expect(skewOfLock({ holders: [holder] }, readAt)).toBe(3000);
  });

  it("is not known where nobody holds it, or its time cannot be read", () => {
    expect(skewOfLock({ holders: [] }, readAt)).toBeNull();
    expect(skewOfLock(null, readAt)).toBeNull();
    expect(skewOfLock({ holders: [{ ...holder, acquired_at: "?" }] }, readAt)).toBeNull();
  });

  it("is at least at the newest event", () => {
    expect(skewOfEvents([event(1, "2026-11-15T21:30:08.000Z"), event(2, "2026-11-15T21:30:12.000Z"), event(3, "?")], readAt)).toBe(2000);
    expect(skewOfEvents([], readAt)).toBeNull();
  });
});
