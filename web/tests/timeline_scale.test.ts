// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { clamp, firstView, fit, follow, MAX_SPAN_MS, MIN_SPAN_MS, pan, readableSpan, spanFor, spanOf, toTime, toX, zoom, type View } from "../src/timeline/scale";
import { stepFor, ticks, type ZoneOffset } from "../src/timeline/ticks";

const HOUR = 3_600_000;
const T0 = Date.parse("2026-11-15T21:30:00.000Z");
const told: View = { begin: T0, end: T0 + 60_000 };
const utc: ZoneOffset = () => 0;

describe("points in time and on the screen", () => {
  it("lead to each other and back", () => {
    const view = { begin: T0 + 123, end: T0 + 98_765 };
    for (const time of [view.begin, T0 + 5000, view.end, T0 - 1000]) expect(toTime(view, 813, toX(view, 813, time))).toBeCloseTo(time, 3);
    expect(toX(view, 813, view.begin)).toBe(0);
    expect(toX(view, 813, view.end)).toBe(813);
  });

  it("a picture without width has one time", () => {
    expect(toTime(told, 0, 10)).toBe(T0);
  });
});

describe("zoom", () => {
  it("keeps the point it is about where it is", () => {
    const anchor = T0 + 20_000;
    const near = zoom(told, anchor, 0.5, told);
    expect(spanOf(near)).toBeCloseTo(30_000, 6);
    expect(toX(near, 900, anchor)).toBeCloseTo(toX(told, 900, anchor), 6);
  });

  it("there and back is where it was", () => {
    const back = zoom(zoom(told, T0 + 7000, 0.25, told), T0 + 7000, 4, told);
    expect(back.begin).toBeCloseTo(told.begin, 3);
    expect(back.end).toBeCloseTo(told.end, 3);
  });

  it("has its limits", () => {
    let view = told;
    for (let i = 0; i < 100; ++i) view = zoom(view, T0 + 30_000, 0.5, told);
    expect(spanOf(view)).toBeCloseTo(MIN_SPAN_MS, 3);
    for (let i = 0; i < 100; ++i) view = zoom(view, T0 + 30_000, 2, told);
    expect(spanOf(view)).toBeCloseTo(MAX_SPAN_MS, 3);
  });
});

describe("pan", () => {
  it("moves by what it is told", () => {
    expect(pan(told, 5000, told)).toEqual({ begin: T0 + 5000, end: T0 + 65_000 });
  });

  it("never leaves everything behind", () => {
    const right = pan(told, 10 * HOUR, told);
    const left = pan(told, -10 * HOUR, told);
    expect(right.begin).toBeLessThan(told.end);
    expect(left.end).toBeGreaterThan(told.begin);
    expect(spanOf(right)).toBe(60_000);
    expect(spanOf(left)).toBe(60_000);
  });

  it("also where nothing was told but one moment", () => {
    const moment = { begin: T0, end: T0 };
    const view = clamp({ begin: T0 + HOUR, end: T0 + 2 * HOUR }, moment);
    expect(view.begin).toBeLessThanOrEqual(T0);
    expect(view.end).toBeGreaterThanOrEqual(T0);
  });
});

describe("follow and fit", () => {
  it("the present stays at the right, at the same length", () => {
    const view = follow(told, T0 + HOUR);
    expect(spanOf(view)).toBeCloseTo(60_000, 6);
    expect(toX(view, 1000, T0 + HOUR)).toBeCloseTo(960, 3);
  });

  it("all of it is in view, even if it is only a moment", () => {
    const all = fit(told);
    expect(all.begin).toBeLessThan(told.begin);
    expect(all.end).toBeGreaterThan(told.end);
    expect(spanOf(fit({ begin: T0, end: T0 }))).toBeGreaterThan(0);
  });

  it("the present is shown first while something goes on, but not all of a long past", () => {
    const { view, follows } = firstView({ begin: T0 - 9 * HOUR, end: T0 }, T0 - 5000, true, T0);
    expect(follows).toBe(true);
    expect(view.end).toBeGreaterThan(T0);
    expect(spanOf(view)).toBeLessThanOrEqual(HOUR);
  });

  it("what is over is shown as a whole", () => {
    const { view, follows } = firstView({ begin: T0, end: T0 + 9 * HOUR }, T0 + 1000, false, T0 + 9 * HOUR);
    expect(follows).toBe(false);
    expect(view.end).toBeLessThan(T0 + 2000);
  });
});

describe("ticks", () => {
  it("stand at round times, in order, within the view, and are not too many", () => {
    for (const span of [30, 700, 9000, 100_000, HOUR, 30 * HOUR, 6 * 24 * HOUR]) {
      const view = { begin: T0 + 17, end: T0 + 17 + span };
      const found = ticks(view, 8, utc);
      expect(found.length).toBeGreaterThan(1);
      expect(found.length).toBeLessThanOrEqual(9);
      const step = stepFor(span, 8);
      found.forEach((tick, i) => {
        expect(tick.at % step).toBe(0);
        expect(tick.at).toBeGreaterThanOrEqual(view.begin);
        expect(tick.at).toBeLessThanOrEqual(view.end);
        if (i > 0) expect(tick.at - (found[i - 1]?.at ?? 0)).toBe(step);
      });
    }
  });

  it("say as much as their distance needs", () => {
    const labels = (span: number): string[] => ticks({ begin: T0, end: T0 + span }, 6, utc).map((tick) => tick.label);
    expect(labels(3000)).toEqual(["21:30:00", ".500", "21:30:01", ".500", "21:30:02", ".500", "21:30:03"]);
    expect(labels(60_000).slice(0, 3)).toEqual(["21:30:00", "21:30:10", "21:30:20"]);
    expect(labels(HOUR).slice(0, 3)).toEqual(["21:30", "21:40", "21:50"]);
  });

  it("are round in the viewer's zone, also where it is off by a quarter of an hour", () => {
    const kathmandu: ZoneOffset = () => -(5 * 60 + 45) * 60_000;
    const found = ticks({ begin: T0, end: T0 + 12 * HOUR }, 8, kathmandu);
    expect(found.map((tick) => tick.label)).toContain("06:00");
    expect(new Date(found.find((tick) => tick.label === "06:00")?.at ?? 0).toISOString()).toBe("2026-11-16T00:15:00.000Z");
  });

  it("stay in order and round where the clock is put forward or back", () => {
    const change = Date.parse("2026-10-25T01:00:00.000Z");
    const back: ZoneOffset = (time) => (time < change ? -2 * HOUR : -HOUR);
    const forward: ZoneOffset = (time) => (time < change ? -HOUR : -2 * HOUR);
    for (const zone of [back, forward]) {
      const found = ticks({ begin: change - 5 * HOUR, end: change + 5 * HOUR }, 12, zone);
      for (let i = 1; i < found.length; ++i) expect(found[i]?.at).toBeGreaterThan(found[i - 1]?.at ?? Infinity);
      expect(found.at(-1)?.at).toBe(change + 5 * HOUR);
    }
  });

  it("a new second, minute or day stands out", () => {
    const found = ticks({ begin: T0, end: T0 + 3000 }, 6, utc);
    expect(found.filter((tick) => tick.major).map((tick) => tick.at - T0)).toEqual([0, 1000, 2000, 3000]);
  });
});

describe("how much time is shown until somebody decides", () => {
  it("grows in steps with what there is, up to a limit", () => {
    expect([0, 4000, 4900, 31_000, 10 * HOUR].map((length) => spanFor(length))).toEqual([5000, 5000, 10_000, 60_000, 600_000]);
    expect(spanFor(10 * HOUR, 20_000)).toBe(20_000);
  });

  it("is less where hand-overs would be too close together, and the less so the wider the picture", () => {
    const everySecond = Array.from({ length: 100 }, (_, i) => T0 + i * 1000);
    expect(readableSpan(everySecond, 1400)).toBe(60_000);
    expect(readableSpan(everySecond, 340)).toBe(20_000);
    expect(readableSpan([T0], 340)).toBe(Infinity);
    expect(readableSpan(everySecond, 0)).toBe(Infinity);
  });

  it("is by how often it happens, not by a long time in which nothing does", () => {
    const twice = [0, 300_000].flatMap((from) => Array.from({ length: 20 }, (_, i) => T0 + from + i * 1000));
    expect(readableSpan(twice.reverse(), 1400)).toBe(60_000);
  });

  it("is never so little that nobody could follow", () => {
    expect(readableSpan(Array.from({ length: 300 }, (_, i) => T0 + i * 3), 1000)).toBe(5000);
    expect(spanFor(1000, 10)).toBe(5000);
  });
});
