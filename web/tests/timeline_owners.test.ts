// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { EventType, LockEvent } from "../src/api/types";
import { inOrder, lanes, MAX_LANES } from "../src/timeline/model";
import { T0, event, holder, waiter, live, relative, spans } from "./timeline_make";

describe("hand-overs", () => {
  const handedOver = (): LockEvent[] => [
    event("acquired", 0, { party: "a", fence: 1 }), event("queued", 50, { party: "b" }),
    event("released", 200, { fence: 1 }), event("acquired", 203, { party: "b", fence: 2, waited_ms: 153 }),
  ];

  it("leads from the end of one hold to the begin of the next one's", () => {
    const picture = lanes(handedOver(), null, T0 + 1000);
    expect(picture.hand_overs).toHaveLength(1);
    const [found] = picture.hand_overs;
    expect([found?.end, found?.begin]).toEqual([T0 + 200, T0 + 203]);
    expect([picture.lanes[found?.from ?? -1]?.key, picture.lanes[found?.to ?? -1]?.key]).toEqual(["party a", "party b"]);
  });

  it("whoever came after the release got it from nobody", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1 }), event("released", 200, { fence: 1 }), event("acquired", 203, { party: "b", fence: 2, waited_ms: 1 })];
    expect(lanes(events, null, T0 + 1000).hand_overs).toEqual([]);
  });

  it("a long time in between is no hand-over", () => {
    const events = handedOver().slice(0, 3).concat(event("acquired", 5000, { party: "b", fence: 2 }));
    expect(lanes(events, null, T0 + 9000).hand_overs).toEqual([]);
  });

  it("several readers can get it from one writer", () => {
    const reader = { kind: "read_write", mode: "shared" } as const;
    const events = [
      event("acquired", 0, { party: "w", fence: 1, kind: "read_write" }),
      event("queued", 1, { ...reader, party: "a" }), event("queued", 2, { ...reader, party: "b" }), event("released", 100, { fence: 1 }),
      event("acquired", 100, { ...reader, party: "a", fence: 2 }), event("acquired", 100, { ...reader, party: "b", fence: 3 }),
    ];
    const picture = lanes(events, null, T0 + 200);
    expect(picture.hand_overs.map((each) => picture.lanes[each.from]?.key)).toEqual(["party w", "party w"]);
  });

  it("nobody gets a lock from himself", () => {
    const events = [
      event("acquired", 0, { party: "a", fence: 1 }), event("queued", 50, { party: "a" }),
      event("released", 200, { fence: 1 }), event("acquired", 200, { party: "a", fence: 2 }),
    ];
    expect(lanes(events, null, T0 + 1000).hand_overs).toEqual([]);
  });
});

describe("whose an event is", () => {
  it("without a party, events of one fence belong together", () => {
    const picture = lanes([event("acquired", 0, { fence: 1 }), event("released", 10, { fence: 1 }), event("acquired", 20, { fence: 2 })], null, T0 + 30);
    expect(picture.lanes.map((each) => each.key).sort()).toEqual(["fence 1", "fence 2"]);
  });

  it("without a party, events of one process belong together, whatever their fences", () => {
    const web = { host: "web-1", pid: 4711 };
    const picture = lanes([event("queued", 0, web), event("acquired", 5, { ...web, fence: 1 }), event("released", 10, { fence: 1, principal: "app" })], null, T0 + 30);
    expect(picture.lanes.map((each) => each.key)).toEqual(["process web-1:4711"]);
    expect(picture.lanes[0]?.spans.map(relative)).toEqual([["waiting", 0, 5, "acquired"], ["held", 5, 10, "released"]]);
  });

  it("who cannot be told apart shares one lane", () => {
    const picture = lanes([event("queued", 0), event("queued", 5), event("left", 9)], null, T0 + 30);
    expect(picture.lanes.map((each) => each.key)).toEqual(["unknown"]);
    expect(picture.lanes[0]?.spans.map(relative)).toEqual([["waiting", 0, 9, "left"], ["waiting", 5, 30, "open"]]);
  });

  it("owners of one process can share a lane, and hand over within it without an arrow", () => {
    const web = { host: "web-1", pid: 4711 };
    const events = [
      event("acquired", 0, { ...web, party: "a", fence: 1 }), event("queued", 5, { ...web, party: "b" }),
      event("released", 10, { fence: 1 }), event("acquired", 10, { ...web, party: "b", fence: 2 }),
    ];
    expect(lanes(events, null, T0 + 30).lanes).toHaveLength(2);
    const picture = lanes(events, null, T0 + 30, { by: "process" });
    expect(picture.lanes.map((each) => [each.key, each.owners, each.rows])).toEqual([["process web-1:4711", 2, 2]]);
    expect(picture.hand_overs).toEqual([]);
  });

  it("who forces a release is not taken for its holder", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1, principal: "app" }), event("forced", 10, { fence: 9, principal: "ops" })];
    const picture = lanes(events, null, T0 + 30);
    expect(picture.lanes.map((each) => each.owner.principal)).toEqual(["app"]);
  });
});

describe("odd input", () => {
  it("the order in which events come does not matter, nor how often", () => {
    const events = [
      event("queued", 0, { party: "a" }), event("acquired", 10, { party: "a", fence: 1 }), event("renewed", 20, { fence: 1 }),
      event("released", 30, { fence: 1 }), event("acquired", 30, { party: "b", fence: 2, waited_ms: 25 }), event("lost", 60, { fence: 2 }),
    ];
    const straight = lanes(events, null, T0 + 100);
    expect(lanes([...events].reverse().concat(events), null, T0 + 100)).toEqual(straight);
    expect(straight.lanes).toHaveLength(2);
  });

  it("unknown types and unreadable times are left out", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1 }), event("melted" as EventType, 5, { party: "x" }), { ...event("released", 9, { fence: 1 }), at: "yesterday" }];
    expect(inOrder(events)).toHaveLength(1);
    expect(spans(lanes(events, null, T0 + 30), "a")).toEqual([["held", 0, 30, "open"]]);
  });

  it("nothing at all is an empty picture that ends now", () => {
    expect(lanes([], null, T0)).toEqual({ lanes: [], more: 0, hand_overs: [], marks: [], begin: T0, end: T0 });
  });

  it("never draws a span backwards", () => {
    const types: EventType[] = ["acquired", "queued", "left", "renewed", "released", "expired", "lost", "forced", "deadlock"];
    let seed = 42;
    const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
    for (let round = 0; round < 200; ++round) {
      const events = Array.from({ length: 40 }, () => event(types[random(9)] ?? "left", random(1000), {
        ...(random(2) === 0 ? { party: `p${random(4)}` } : {}), ...(random(3) > 0 ? { fence: random(12) } : {}),
        ...(random(2) === 0 ? { held_ms: random(2000), waited_ms: random(2000) } : {}), mode: random(2) === 0 ? "shared" : "exclusive",
      }));
      const lock = live([holder({ fence: random(12), party: `p${random(4)}`, held_ms: random(900) })], [waiter({ party: `p${random(4)}`, waiting_ms: random(900) })]);
      const picture = lanes(events, lock, T0 + 1000 + random(9000));
      for (const span of picture.lanes.flatMap((each) => each.spans)) {
        expect(span.end).toBeGreaterThanOrEqual(span.begin);
        expect(span.begin).toBeGreaterThanOrEqual(picture.begin);
        expect(span.end).toBeLessThanOrEqual(picture.end);
      }
    }
  });
});

describe("order and bounds", () => {
  it("holders come first, then the queue, then the others by their latest news", () => {
    const events = [
      event("acquired", 0, { party: "old", fence: 1 }), event("released", 10, { fence: 1 }),
      event("acquired", 20, { party: "newer", fence: 2 }), event("released", 30, { fence: 2 }),
      event("acquired", 40, { party: "holder", fence: 3 }), event("queued", 50, { party: "first" }), event("queued", 60, { party: "second" }),
    ];
    expect(lanes(events, null, T0 + 100).lanes.map((each) => each.key.slice(6))).toEqual(["holder", "first", "second", "newer", "old"]);
  });

  it("of too many owners the rest is counted", () => {
    const events = Array.from({ length: 274 }, (_, i) => event("left", i, { party: `p${i}`, waited_ms: 1 }));
    const picture = lanes(events, null, T0 + 1000);
    expect(picture.lanes).toHaveLength(MAX_LANES);
    expect(picture.more).toBe(214);
    expect(picture.lanes[0]?.key).toBe("party p273");
  });

  it("a thousand events take less than 5 ms", () => {
    const events = Array.from({ length: 250 }, (_, i) => [
      event("queued", i * 10, { party: `p${i % 40}` }), event("acquired", i * 10 + 4, { party: `p${i % 40}`, fence: i + 1, waited_ms: 4 }),
      event("renewed", i * 10 + 5, { fence: i + 1 }), event("released", i * 10 + 9, { fence: i + 1 }),
    ]).flat();
    const took = Array.from({ length: 15 }, () => {
      const begun = performance.now();
      lanes(events, null, T0 + 5000);
      return performance.now() - begun;
    }).sort((a, b) => a - b);
    expect(took[0]).toBeLessThan(5);
  });
});
