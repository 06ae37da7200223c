// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { lanes } from "../src/timeline/model";
import { T0, event, holder, waiter, live, lane, spans } from "./timeline_make";

describe("holds and waits", () => {
  it("a hold lasts from its acquire to its release, which names no more than the fence", () => {
    const picture = lanes([event("acquired", 100, { party: "a", fence: 7 }), event("released", 400, { fence: 7 })], null, T0 + 1000);
    expect(spans(picture, "a")).toEqual([["held", 100, 400, "released"]]);
    expect(picture.lanes).toHaveLength(1);
  });

  it("a hold without an end lasts until now", () => {
    const picture = lanes([event("acquired", 100, { party: "a", fence: 7 })], null, T0 + 1000);
    expect(spans(picture, "a")).toEqual([["held", 100, 1000, "open"]]);
    expect(lane(picture, "a").holds).toBe(true);
  });

  it("a wait lasts from queued to acquired", () => {
    const events = [event("queued", 50, { party: "a" }), event("acquired", 300, { party: "a", fence: 7, waited_ms: 250 })];
    expect(spans(lanes(events, null, T0 + 1000), "a")).toEqual([["waiting", 50, 300, "acquired"], ["held", 300, 1000, "open"]]);
  });

  it("a wait whose queued event is not kept begins as long ago as it lasted", () => {
    const events = [event("acquired", 300, { party: "a", fence: 7, waited_ms: 250 })];
    expect(spans(lanes(events, null, T0 + 1000), "a")[0]).toEqual(["waiting", 50, 300, "acquired"]);
  });

  it("whoever got the lock at once has not waited", () => {
    const picture = lanes([event("acquired", 300, { party: "a", fence: 7, waited_ms: 0 })], null, T0 + 1000);
    expect(spans(picture, "a")).toEqual([["held", 300, 1000, "open"]]);
  });

  it("a waiter that left has waited until then, and bears a mark", () => {
    const picture = lanes([event("queued", 10, { party: "a" }), event("left", 90, { party: "a", waited_ms: 80 })], null, T0 + 1000);
    expect(spans(picture, "a")).toEqual([["waiting", 10, 90, "left"]]);
    expect(lane(picture, "a").marks.map((mark) => [mark.type, mark.at - T0])).toEqual([["left", 90]]);
  });

  it("whoever had the lock in the meantime has not given up waiting", () => {
    const events = [
      event("queued", 0, { party: "a" }), event("acquired", 2600, { party: "a", fence: 1, waited_ms: 2600 }),
      event("released", 2900, { fence: 1 }), event("left", 3100, { party: "a", source: "observed", waited_ms: 2500 }),
    ];
    const picture = lanes(events, null, T0 + 4000);
    expect(spans(picture, "a")).toEqual([["waiting", 0, 2600, "acquired"], ["held", 2600, 2900, "released"]]);
    expect(lane(picture, "a").marks).toEqual([]);
    const later = lanes([...events.slice(0, 3), event("left", 9000, { party: "a", waited_ms: 4000 })], null, T0 + 9500);
    expect(spans(later, "a").at(-1)).toEqual(["waiting", 5000, 9000, "left"]);
  });

  it("a renewal is a mark and no new hold", () => {
    const events = [event("acquired", 0, { party: "a", fence: 7 }), event("renewed", 10, { fence: 7 }), event("renewed", 20, { fence: 7 })];
    const picture = lanes(events, null, T0 + 30);
    expect(spans(picture, "a")).toEqual([["held", 0, 30, "open"]]);
    expect(lane(picture, "a").marks.map((mark) => mark.at - T0)).toEqual([10, 20]);
  });

  it("the same owner may come again", () => {
    const events = [
      event("acquired", 0, { party: "a", fence: 1 }), event("released", 10, { fence: 1 }),
      event("acquired", 20, { party: "a", fence: 2 }), event("released", 30, { fence: 2 }),
    ];
    expect(spans(lanes(events, null, T0 + 40), "a")).toEqual([["held", 0, 10, "released"], ["held", 20, 30, "released"]]);
  });
});

describe("re-entry and holders at once", () => {
  const again = { party: "a", fence: 5, kind: "reentrant" as const };

  it("a lock that was entered twice is held until it is released twice", () => {
    const events = [event("acquired", 0, again), event("acquired", 10, again), event("released", 20, again), event("released", 30, again)];
    expect(spans(lanes(events, null, T0 + 40), "a")).toEqual([["held", 0, 30, "released"]]);
    expect(spans(lanes(events.slice(0, 3), null, T0 + 40), "a")).toEqual([["held", 0, 40, "open"]]);
  });

  it("a grant that is told twice counts once where the lock cannot be entered again", () => {
    const events = [event("acquired", 0, { party: "a", fence: 5 }), event("acquired", 1, { party: "a", fence: 5 }), event("released", 20, { fence: 5 })];
    expect(spans(lanes(events, null, T0 + 40), "a")).toEqual([["held", 0, 20, "released"]]);
  });

  it("shared holders hold at once", () => {
    const shared = { kind: "read_write", mode: "shared" } as const;
    const events = [event("acquired", 0, { ...shared, party: "a", fence: 1 }), event("acquired", 5, { ...shared, party: "b", fence: 2 }), event("released", 9, { fence: 1 })];
    const picture = lanes(events, null, T0 + 40);
    expect(spans(picture, "a")).toEqual([["held", 0, 9, "released"]]);
    expect(spans(picture, "b")).toEqual([["held", 5, 40, "open"]]);
  });

  it("holds of one lane that overlap get a row each", () => {
    const permit = { kind: "semaphore", mode: "shared", party: "a" } as const;
    const events = [event("acquired", 0, { ...permit, fence: 1 }), event("acquired", 5, { ...permit, fence: 2 }), event("released", 9, { fence: 1 }), event("acquired", 9, { ...permit, fence: 3 })];
    const found = lane(lanes(events, null, T0 + 40), "a");
    expect(found.spans.map((span) => [span.fence, span.row])).toEqual([[1, 0], [2, 1], [3, 0]]);
    expect(found.rows).toBe(2);
  });

  it("an exclusive holder that comes ends a hold whose end nobody told", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1 }), event("acquired", 50, { party: "b", fence: 2 })];
    const picture = lanes(events, null, T0 + 100);
    expect(spans(picture, "a")).toEqual([["held", 0, 50, "unseen"]]);
    expect(spans(picture, "b")).toEqual([["held", 50, 100, "open"]]);
  });

  it("a release that is told after the next holder never looks like two holders at once", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1 }), event("acquired", 50, { party: "b", fence: 2 }), event("released", 52, { fence: 1 })];
    expect(spans(lanes(events, null, T0 + 100), "a")).toEqual([["held", 0, 50, "released"]]);
  });

  it("a lease that became exclusive goes on under its new fence", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1, mode: "shared" }), event("acquired", 50, { party: "a", fence: 2 })];
    expect(spans(lanes(events, null, T0 + 100), "a")).toEqual([["held", 0, 50, "upgraded"], ["held", 50, 100, "open"]]);
  });
});

describe("how a hold ends", () => {
  it("a lost lease ends there and bears a mark", () => {
    const picture = lanes([event("acquired", 0, { party: "a", fence: 1 }), event("lost", 70, { fence: 1, reason: "not renewed" })], null, T0 + 100);
    expect(spans(picture, "a")).toEqual([["held", 0, 70, "lost"]]);
    expect(lane(picture, "a").marks[0]).toMatchObject({ type: "lost", at: T0 + 70, reason: "not renewed" });
  });

  it("force takes the lock from all holders, although its event carries a fence of its own", () => {
    const shared = { kind: "read_write", mode: "shared" } as const;
    const events = [
      event("acquired", 0, { ...shared, party: "a", fence: 1 }), event("acquired", 5, { ...shared, party: "b", fence: 2 }),
      event("forced", 60, { fence: 3, reason: "stuck", principal: "ops" }),
    ];
    const picture = lanes(events, null, T0 + 100);
    expect(spans(picture, "a")).toEqual([["held", 0, 60, "forced"]]);
    expect(spans(picture, "b")).toEqual([["held", 5, 60, "forced"]]);
    expect(lane(picture, "b").marks).toMatchObject([{ type: "forced", reason: "stuck", principal: "ops", fence: 2 }]);
    expect(picture.lanes).toHaveLength(2);
  });

  it("a holder that learns of the force later bears both marks, and its hold ended with the force", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1 }), event("forced", 60, { fence: 3 }), event("lost", 90, { fence: 1 })];
    const picture = lanes(events, null, T0 + 100);
    expect(spans(picture, "a")).toEqual([["held", 0, 60, "forced"]]);
    expect(lane(picture, "a").marks.map((mark) => [mark.type, mark.at - T0])).toEqual([["forced", 60], ["lost", 90]]);
  });

  it("a force that is told after the next holder still ended the hold before", () => {
    const events = [
      event("acquired", 0, { party: "a", fence: 1 }), event("queued", 10, { party: "b" }),
      event("acquired", 60, { party: "b", fence: 3, waited_ms: 50 }), event("forced", 61, { fence: 2, principal: "ops" }),
    ];
    const picture = lanes(events, null, T0 + 100);
    expect(spans(picture, "a")).toEqual([["held", 0, 60, "forced"]]);
    expect(lane(picture, "a").marks.map((mark) => mark.type)).toEqual(["forced"]);
    expect(spans(picture, "b").at(-1)).toEqual(["held", 60, 100, "open"]);
    expect(picture.marks).toEqual([]);
  });

  it("a force that met nobody is a mark of the lock", () => {
    const picture = lanes([event("forced", 60, { fence: 3, principal: "ops" })], null, T0 + 100);
    expect(picture.lanes).toEqual([]);
    expect(picture.marks.map((mark) => mark.type)).toEqual(["forced"]);
  });

  it("a deadlock is a mark of the lock", () => {
    const picture = lanes([event("deadlock", 60, { reason: "deadlock 9f" })], null, T0 + 100);
    expect(picture.marks).toMatchObject([{ type: "deadlock", at: T0 + 60, reason: "deadlock 9f" }]);
  });

  it("an expired lease bears a mark", () => {
    const picture = lanes([event("acquired", 0, { party: "a", fence: 1 }), event("expired", 70, { party: "a", fence: 1, source: "observed" })], null, T0 + 100);
    expect(spans(picture, "a")).toEqual([["held", 0, 70, "expired"]]);
    expect(lane(picture, "a").marks.map((mark) => mark.type)).toEqual(["expired"]);
  });
});

describe("what is not kept", () => {
  it("a release tells when its hold began", () => {
    const picture = lanes([event("released", 500, { party: "a", fence: 1, held_ms: 450 })], null, T0 + 1000);
    expect(spans(picture, "a")).toEqual([["held", 50, 500, "released"]]);
    expect(picture.begin).toBe(T0 + 50);
  });

  it("the rest of a hold of nobody known is worth no lane, unless there is nothing else", () => {
    const rest = event("released", 5, { fence: 1, principal: "app", held_ms: 100 });
    expect(lanes([rest, event("acquired", 9, { party: "a", fence: 2 })], null, T0 + 30).lanes.map((each) => each.key)).toEqual(["party a"]);
    expect(lanes([rest], null, T0 + 30).lanes.map((each) => each.key)).toEqual(["principal app"]);
    expect(lanes([event("renewed", 5, { fence: 1, principal: "app" })], null, T0 + 30).lanes).toHaveLength(1);
  });

  it("a hold of which only a renewal is kept begins with the picture", () => {
    const events = [event("queued", 10, { party: "b" }), event("renewed", 200, { party: "a", fence: 1 })];
    const [span] = lane(lanes(events, null, T0 + 1000), "a").spans;
    expect(span).toMatchObject({ begin: T0 + 10, begin_known: false, end: T0 + 1000, outcome: "open" });
  });

  it("the live state tells when that hold began", () => {
    const lock = live([holder({ fence: 1, party: "a", held_ms: 5000, acquired_at: new Date(T0 - 4000).toISOString() })]);
    const picture = lanes([event("renewed", 200, { party: "a", fence: 1 })], lock, T0 + 1000);
    expect(lane(picture, "a").spans[0]).toMatchObject({ begin: T0 - 4000, begin_known: true, end: T0 + 1000 });
    expect(picture.begin).toBe(T0 - 4000);
  });

  it("holders and waiters of whom no event tells are there too, in the order of the queue", () => {
    const lock = live(
      [holder({ fence: 1, party: "a", held_ms: 900, host: "web-1", pid: 4711 })],
      [waiter({ party: "c", waiting_ms: 100 }), waiter({ party: "b", waiting_ms: 300 })],
    );
    const picture = lanes([], lock, T0 + 1000, { seen_at: T0 + 800 });
    expect(picture.lanes.map((each) => [each.key, each.holds, each.position])).toEqual([["party a", true, null], ["party c", false, 1], ["party b", false, 2]]);
    expect(spans(picture, "a")).toEqual([["held", -100, 1000, "open"]]);
    expect(spans(picture, "b")).toEqual([["waiting", 500, 1000, "open"]]);
  });

  it("a hand-over that is not confirmed is claimed until now", () => {
    const lock = live([holder({ fence: 1, party: "a", claimed: true })]);
    const picture = lanes([event("acquired", 900, { party: "a", fence: 1 })], lock, T0 + 1000);
    expect(lane(picture, "a").spans[0]).toMatchObject({ begin: T0 + 900, claimed_until: T0 + 1000 });
  });

  it("a live state that is a little older than the events changes nothing", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1 }), event("released", 9000, { fence: 1 }), event("acquired", 9000, { party: "b", fence: 2, waited_ms: 4000 })];
    const lock = live([holder({ fence: 1, party: "a", held_ms: 8500 })], [waiter({ party: "b", waiting_ms: 3500 })]);
    const picture = lanes(events, lock, T0 + 9500, { seen_at: T0 + 8500 });
    expect(spans(picture, "a")).toEqual([["held", 0, 9000, "released"]]);
    expect(spans(picture, "b")).toEqual([["waiting", 5000, 9000, "acquired"], ["held", 9000, 9500, "open"]]);
  });

  it("what the live state has not had for long has ended, at the latest with its lease", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1, expires_in_ms: 5000 }), event("queued", 10, { party: "b" }), event("renewed", 500, { fence: 1, expires_in_ms: 4500 })];
    const picture = lanes(events, live([]), T0 + 60000);
    expect(spans(picture, "a")).toEqual([["held", 0, 5000, "unseen"]]);
    expect(spans(picture, "b")).toEqual([["waiting", 10, 500, "unseen"]]);
  });

  it("a holder of whom the events do not know yet has taken it from the one before", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1 })];
    const lock = live([holder({ fence: 2, party: "b", acquired_at: new Date(T0 + 900).toISOString(), held_ms: 50 })]);
    const picture = lanes(events, lock, T0 + 1000, { seen_at: T0 + 950 });
    expect(spans(picture, "a")).toEqual([["held", 0, 900, "unseen"]]);
    expect(spans(picture, "b")).toEqual([["held", 900, 1000, "open"]]);
  });

  it("a holder of whom the events know only that it waits waits no more", () => {
    const lock = live([holder({ fence: 2, party: "b", acquired_at: new Date(T0 + 900).toISOString(), held_ms: 50 })]);
    const events = [event("acquired", 0, { party: "a", fence: 1 }), event("queued", 100, { party: "b" })];
    const picture = lanes(events, lock, T0 + 1000, { seen_at: T0 + 950 });
    expect(spans(picture, "b")).toEqual([["waiting", 100, 900, "acquired"], ["held", 900, 1000, "open"]]);
    expect(picture.hand_overs).toHaveLength(1);
  });

  it("a holder of whom no event tells has lost it to one with a larger fence", () => {
    const events = [event("acquired", 800, { party: "b", fence: 2 })];
    const lock = live([holder({ fence: 1, party: "a", acquired_at: new Date(T0 + 100).toISOString(), held_ms: 600 })]);
    const picture = lanes(events, lock, T0 + 1000, { seen_at: T0 + 700 });
    expect(spans(picture, "a")).toEqual([["held", 100, 800, "unseen"]]);
    expect(spans(picture, "b")).toEqual([["held", 800, 1000, "open"]]);
  });

  it("a hold that the live state still has long after its release was entered more than once", () => {
    const events = [event("acquired", 0, { party: "a", fence: 1 }), event("released", 100, { fence: 1 })];
    const picture = lanes(events, live([holder({ fence: 1, party: "a", held_ms: 10000 })]), T0 + 10000);
    expect(spans(picture, "a")).toEqual([["held", 0, 10000, "open"]]);
  });
});
