// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { pieces, placeLanes, rowY, shownMarks, steadyOrder } from "../src/timeline/geometry";
import type { Lane, Mark, Span } from "../src/timeline/span";

const view = { begin: 0, end: 1000 };

function span(begin: number, end: number, more: Partial<Span> = {}): Span {
  return {
    id: `${begin}`, what: "held", begin, end, begin_known: true, outcome: "released", fence: null, mode: null,
    waited_since: null, claimed_until: null, reason: null, row: 0, ...more,
  };
}

function lane(key: string, rows = 1): Lane {
  const owner = { key, host: null, pid: null, program: null, note: null, principal: null, party: null, fence: null };
  return { key, owner, owners: 1, spans: [], marks: [], rows, holds: false, position: null, last: 0 };
}

const mark = (at: number, type: Mark["type"] = "renewed"): Mark => ({ id: `${at}`, type, at, row: 0, fence: null, reason: null, principal: null });

describe("what is drawn of spans", () => {
  it("each that can be told apart stands where its times are", () => {
    expect(pieces([span(100, 200), span(300, 450)], view, 500).map(({ x, width, count }) => [x, width, count])).toEqual([[50, 50, 1], [150, 75, 1]]);
  });

  it("what is out of view is left out", () => {
    expect(pieces([span(-9000, -8000), span(9000, 9100)], view, 500)).toEqual([]);
  });

  it("an open one reaches beyond the right edge, whatever its end", () => {
    const [piece] = pieces([span(500, 600, { outcome: "open" })], view, 500);
    expect((piece?.x ?? 0) + (piece?.width ?? 0)).toBeGreaterThan(500);
  });

  it("one that lasted no time can still be seen", () => {
    expect(pieces([span(100, 100)], view, 500)[0]?.width).toBeGreaterThanOrEqual(2);
  });

  it("a thousand that are too thin become a few, and are counted", () => {
    const many = Array.from({ length: 1000 }, (_, i) => span(i, i + 1));
    const drawn = pieces(many, { begin: 0, end: 20_000 }, 500);
    expect(drawn.length).toBeLessThan(20);
    expect(drawn.reduce((sum, piece) => sum + piece.count, 0)).toBe(1000);
  });

  it("a thin one beside a long one is drawn for itself", () => {
    expect(pieces([span(0, 500), span(500, 501)], view, 500).map((piece) => piece.count)).toEqual([1, 1]);
  });

  it("holds and waits are never drawn as one", () => {
    expect(pieces([span(10, 11), span(11, 12, { what: "waiting" })], view, 100)).toHaveLength(2);
  });
});

describe("marks", () => {
  it("of one type that would cover each other are drawn once", () => {
    const shown = shownMarks([mark(100), mark(101), mark(400)], view, 500);
    expect(shown.map(({ x, count }) => [x, count])).toEqual([[50, 2], [200, 1]]);
  });

  it("of different types are all drawn", () => {
    expect(shownMarks([mark(100), mark(100, "lost")], view, 500)).toHaveLength(2);
  });

  it("of different types never cover each other", () => {
    const [forced, lost] = shownMarks([mark(100, "forced"), mark(101, "lost")], view, 500);
    expect(forced?.x).toBe(50);
    expect((lost?.x ?? 0) - (forced?.x ?? 0)).toBeGreaterThanOrEqual(9);
  });
});

describe("lanes", () => {
  it("stand below each other in the order given, as high as their rows", () => {
    const places = placeLanes([lane("a"), lane("b", 3)], ["b", "a"], false);
    expect(places.top[1]).toBe(0);
    expect(places.top[0]).toBe(places.height[1]);
    expect(places.height[1] ?? 0).toBeGreaterThan(places.height[0] ?? 0);
    expect(places.total).toBe((places.height[0] ?? 0) + (places.height[1] ?? 0));
  });

  it("have their rows within them", () => {
    for (const narrow of [false, true]) {
      const places = placeLanes([lane("a", 2)], ["a"], narrow);
      expect(rowY(places, 0, 0, 2)).toBeGreaterThan(places.inset);
      expect(rowY(places, 0, 1, 2)).toBeLessThan(places.total);
    }
  });
});

describe("the order of lanes", () => {
  it("stays while the same owners take turns", () => {
    expect(steadyOrder(["a", "b", "c"], ["c", "a", "b"])).toEqual(["a", "b", "c"]);
  });

  it("has a newcomer after whom it follows", () => {
    expect(steadyOrder(["a", "b"], ["b", "new", "a"])).toEqual(["a", "b", "new"]);
    expect(steadyOrder(["a", "b"], ["new", "b", "a"])).toEqual(["new", "a", "b"]);
  });

  it("forgets who is gone", () => {
    expect(steadyOrder(["a", "b", "c"], ["c", "b"])).toEqual(["b", "c"]);
  });
});
