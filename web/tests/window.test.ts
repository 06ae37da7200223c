// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { keyTarget, scrollFor, windowOf } from "../src/parts/window";

describe("the rows in the document", () => {
  test("are those in view and a few around them", () => {
    expect(windowOf(3600, 360, 36, 20_000, 8)).toEqual({ from: 92, to: 118 });
  });

  test("end where the table does", () => {
    expect(windowOf(0, 360, 36, 20_000, 8)).toEqual({ from: 0, to: 18 });
    expect(windowOf(20_000 * 36 - 360, 360, 36, 20_000, 8)).toEqual({ from: 19_982, to: 20_000 });
    expect(windowOf(0, 360, 36, 0, 8)).toEqual({ from: 0, to: 0 });
    expect(windowOf(-40, 360, 36, 3, 8)).toEqual({ from: 0, to: 3 });
  });

  test("are never more than a screen, however far one has scrolled beyond the end", () => {
    const { from, to } = windowOf(900_000, 360, 36, 100, 8);
    expect(from).toBeLessThanOrEqual(99);
    expect(to).toBe(100);
    expect(to - from).toBeLessThan(30);
  });
});

describe("the keys of a table", () => {
  test.each([
    ["ArrowDown", 11],
    ["ArrowUp", 9],
    ["PageDown", 29],
    ["PageUp", 0],
    ["Home", 0],
    ["End", 99],
    ["x", null],
  ])("%s leads from row 10 to %s", (key, target) => {
    expect(keyTarget(key, 10, 100, 20)).toBe(target);
  });

  test("do not lead out of it", () => {
    expect([keyTarget("ArrowUp", 0, 100, 20), keyTarget("ArrowDown", 99, 100, 20), keyTarget("End", 0, 0, 20)]).toEqual([0, 99, null]);
  });

  test("a row out of sight is scrolled to, by no more than it takes", () => {
    expect(scrollFor(5, 360, 360, 36)).toBe(180);
    expect(scrollFor(20, 360, 360, 36)).toBe(396);
    expect(scrollFor(12, 360, 360, 36)).toBeNull();
  });
});
