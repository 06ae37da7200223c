// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { EventType, LockEvent } from "../src/api/types";
import { placeLanes, rowY } from "../src/timeline/geometry";
import { idOf, targetAt, targetOf } from "../src/timeline/hit";
import { lanes } from "../src/timeline/model";

let nextId = 1;
const event = (type: EventType, at: number, more: Partial<LockEvent>): LockEvent =>
  ({ id: nextId++, type, name: "a", at: new Date(at).toISOString(), source: "server", kind: "mutex", mode: "exclusive", ...more });

const picture = lanes([
  event("acquired", 1000, { party: "a", fence: 1 }), event("renewed", 1500, { fence: 1 }), event("queued", 1200, { party: "b" }),
  event("lost", 2000, { fence: 1 }), event("acquired", 2000, { party: "b", fence: 2, waited_ms: 800 }), event("released", 2004, { fence: 2 }),
], null, 4000);
const order = picture.lanes.map((lane) => lane.key);
const places = placeLanes(picture.lanes, order, false);
const view = { begin: 0, end: 4000 };

function at(party: string, time: number): string | null {
  const index = order.indexOf(`party ${party}`);
  const target = targetAt(picture, places, view, 400, time / 10, rowY(places, index, 0, 1));
  if (target === null) return null;
  return target.kind === "mark" ? target.mark.type : `${target.span.what} ${target.span.begin}`;
}

describe("what is under the pointer", () => {
  it("is the span of that lane and time", () => {
    expect(at("a", 1250)).toBe("held 1000");
    expect(at("b", 1600)).toBe("waiting 1200");
  });

  it("is a mark close by rather than the span", () => {
    expect(at("a", 1510)).toBe("renewed");
    expect(at("a", 1960)).toBe("lost");
  });

  it("is a thin span also a little beside it", () => {
    expect(at("b", 2030)).toBe("held 2000");
    expect(at("b", 2300)).toBeNull();
  });

  it("is nothing below the lanes or before there is a width", () => {
    expect(targetAt(picture, places, view, 400, 10, 9999)).toBeNull();
    expect(targetAt(picture, places, view, 0, 10, 10)).toBeNull();
  });
});

describe("what was selected", () => {
  it("is found again by its id, or is gone", () => {
    for (const lane of picture.lanes) {
      for (const span of lane.spans) expect(targetOf(picture, span.id)).toMatchObject({ kind: "span", span });
      for (const mark of lane.marks) expect(targetOf(picture, mark.id)).toMatchObject({ kind: "mark", mark });
    }
    expect(targetOf(picture, "gone")).toBeNull();
    expect(targetOf(picture, null)).toBeNull();
  });

  it("has one id each", () => {
    const ids = picture.lanes.flatMap((lane) => [...lane.spans.map((span) => idOf({ kind: "span", lane, span })), ...lane.marks.map((mark) => idOf({ kind: "mark", lane, mark }))]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(5);
  });
});
