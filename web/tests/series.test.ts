// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { latest, pollEvery, spoken, total } from "../src/text/series";

describe("columns of numbers", () => {
  test("the latest is the last that is known", () => {
    expect([latest([1, 2, null]), latest([null]), latest([])]).toEqual([2, null, null]);
  });

  test("the total skips what is not known", () => {
    expect([total([1, null, 2]), total([null, null]), total([])]).toEqual([3, null, null]);
  });

  test("are told to those who cannot see the chart", () => {
    expect(spoken([4, null, 9, 6], String)).toBe("now 6, lowest 4, highest 9");
    expect(spoken([null], String)).toBe("nothing known yet");
  });

  test("are asked for about once in each step", () => {
    expect([pollEvery(10), pollEvery(5000), pollEvery(60_000), pollEvery(undefined)]).toEqual([1000, 5000, 10_000, 2000]);
  });
});
