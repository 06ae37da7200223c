// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { duration, markSentence, moment, spanSentence, spanVerb, summary } from "../src/timeline/describe";
import { ownerLabel, ownerMore } from "../src/timeline/owners";
import type { Lane, Owner, Span } from "../src/timeline/span";
import { wheelFactor } from "../src/timeline/use_gestures";
import { slideFor, stepFor } from "../src/timeline/use_present";

const NOW = new Date(2026, 10, 15, 14, 2, 12, 0).getTime();

function owner(more: Partial<Owner>): Owner {
  return { key: "party ab", host: null, pid: null, program: null, note: null, principal: null, party: null, fence: null, ...more };
}

function span(more: Partial<Span>): Span {
  return {
    id: "h1", what: "held", begin: NOW - 1250, end: NOW - 50, begin_known: true, outcome: "released", fence: 7, mode: "exclusive",
    waited_since: null, claimed_until: null, reason: null, row: 0, ...more,
  };
}

const lane: Lane = { key: "a", owner: owner({ host: "web-1", pid: 4711 }), owners: 1, spans: [], marks: [], rows: 1, holds: true, position: null, last: 0 };

describe("an owner's label", () => {
  it("is what tells it best from others", () => {
    expect(ownerLabel(owner({ host: "web-1", pid: 4711, program: "report" }))).toBe("web-1:4711");
    expect(ownerLabel(owner({ program: "report", principal: "app" }))).toBe("report");
    expect(ownerLabel(owner({ note: "nightly", principal: "app" }))).toBe("nightly");
    expect(ownerLabel(owner({ principal: "app", party: "9c5f1e07a2b3d486" }))).toBe("app");
    expect(ownerLabel(owner({ party: "9c5f1e07a2b3d486" }))).toBe("party 9c5f1e07");
    expect(ownerLabel(owner({ key: "fence 12", fence: 12 }))).toBe("fence 12");
    expect(ownerLabel(owner({ key: "unknown", fence: 12 }))).toBe("unknown owner");
  });

  it("is followed by what else it said, but not twice", () => {
    expect(ownerMore(owner({ host: "web-1", program: "report", note: "nightly", principal: "app" }))).toBe("report · nightly");
    expect(ownerMore(owner({ host: "web-1", principal: "app" }))).toBe("app");
    expect(ownerMore(owner({ principal: "app" }))).toBe("");
  });
});

describe("a span in words", () => {
  it("says who, how long, from when to when, and how it ended", () => {
    expect(spanSentence(lane, span({}), NOW)).toBe("web-1:4711 held it for 1.2s, from 14:02:10.750 to 14:02:11.950, fence 7, released");
  });

  it("goes on while it is open", () => {
    expect(spanVerb(span({ outcome: "open" }), NOW + 60_000)).toBe("holds it for 1m 1s");
    expect(spanVerb(span({ what: "waiting", outcome: "open" }), NOW)).toBe("waits for 1.2s");
    expect(spanSentence(lane, span({ outcome: "open", claimed_until: NOW }), NOW)).toContain("not yet confirmed");
  });

  it("does not claim to know when it began where it does not", () => {
    expect(duration(span({ begin_known: false }), NOW)).toBe("more than 1.2s");
  });

  it("spells out what cannot be seen in a reason", () => {
    expect(spanSentence(lane, span({ outcome: "forced", reason: "a\u202eb" }), NOW)).toContain("released by force: a\\u202eb");
  });
});

describe("a mark in words", () => {
  it("says by whom, when and why", () => {
    const mark = { id: "m", type: "forced", at: NOW, row: 0, fence: 7, reason: "stuck", principal: "ops" } as const;
    expect(markSentence(lane, mark, NOW)).toBe("web-1:4711: released by force by ops at 14:02:12.000: stuck");
    expect(markSentence(null, { ...mark, type: "deadlock" }, NOW)).toBe("the lock: deadlock found at 14:02:12.000: stuck");
  });
});

describe("times", () => {
  it("have their day where it is not today", () => {
    expect(moment(NOW - 86_400_000, NOW)).toBe("2026-11-14 14:02:12.000");
  });
});

describe("the summary", () => {
  it("counts who holds and waits", () => {
    expect(summary([lane, { ...lane, holds: false, position: 1 }], 3, 2)).toBe("5 owners, 1 holding, 1 waiting, 2 hand-overs");
  });
});

describe("motion", () => {
  it("a wheel zooms in and out by the same, however it counts", () => {
    expect(wheelFactor(100, 0) * wheelFactor(-100, 0)).toBeCloseTo(1, 9);
    expect(wheelFactor(100, 0)).toBeGreaterThan(1);
    expect(wheelFactor(3, 1)).toBeCloseTo(wheelFactor(48, 0), 9);
    expect(wheelFactor(1e9, 2)).toBeLessThan(3);
  });

  it("draws anew at most ten times a second and at least once", () => {
    for (const speed of [0, 1e-6, 0.001, 0.03, 0.2, 50]) {
      for (const time of [stepFor(speed), slideFor(speed)]) {
        expect(time).toBeGreaterThanOrEqual(100);
        expect(time).toBeLessThanOrEqual(1000);
      }
    }
  });
});
