// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { findSpan, firstSpan, neighbour } from "../src/timeline/navigate";
import type { Lane, Span } from "../src/timeline/span";

function span(id: string, begin: number, end: number): Span {
  return { id, what: "held", begin, end, begin_known: true, outcome: "released", fence: null, mode: null, waited_since: null, claimed_until: null, reason: null, row: 0 };
}

function lane(key: string, spans: Span[]): Lane {
  const owner = { key, host: null, pid: null, program: null, note: null, principal: null, party: null, fence: null };
  return { key, owner, owners: 1, spans, marks: [], rows: 1, holds: false, position: null, last: 0 };
}

const lanes = [lane("a", [span("a1", 0, 10), span("a2", 50, 60)]), lane("empty", []), lane("b", [span("b1", 5, 20), span("b2", 48, 90)])];
const order = ["b", "empty", "a"];

function lead(id: string, key: string): string | undefined {
  const from = findSpan(lanes, id);
  if (from === null) throw new Error(`there is no ${id}`);
  return neighbour(lanes, order, from, key)?.span.id;
}

describe("arrow keys", () => {
  it("lead along a lane and stop at its ends", () => {
    expect(lead("a1", "ArrowRight")).toBe("a2");
    expect(lead("a2", "ArrowLeft")).toBe("a1");
    expect(lead("a2", "ArrowRight")).toBeUndefined();
    expect(lead("a1", "ArrowLeft")).toBeUndefined();
  });

  it("lead to the next lane as it is drawn, past an empty one, at about the same time", () => {
    expect(lead("b2", "ArrowDown")).toBe("a2");
    expect(lead("a1", "ArrowUp")).toBe("b1");
    expect(lead("b1", "ArrowUp")).toBeUndefined();
  });

  it("begin with the latest span of the first lane", () => {
    expect(firstSpan(lanes, order)?.span.id).toBe("b2");
    expect(firstSpan([], order)).toBeNull();
  });
});

describe("a span that is gone", () => {
  it("is not found", () => {
    expect(findSpan(lanes, "zz")).toBeNull();
    expect(findSpan(lanes, null)).toBeNull();
  });
});
