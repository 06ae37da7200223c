// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Histogram } from "../src/api/types";
import { fine, mean, placeOf, quantile, shownBuckets } from "../src/text/quantile";

function histogram(counts: number[], bounds_ms = [10, 20, 40], sum_ms = 0): Histogram {
  return { bounds_ms, counts, count: counts.reduce((sum, count) => sum + count, 0), sum_ms };
}

describe("quantile", () => {
  it("lies in the middle of a bucket that holds everything", () => {
    expect(quantile(histogram([0, 8, 0, 0]), 0.5)).toEqual({ ms: 15, at_least: false });
  });

  it("counts the first bucket from zero", () => {
    expect(quantile(histogram([4, 0, 0, 0]), 0.25)).toEqual({ ms: 2.5, at_least: false });
  });

  it("passes over what lies below and over empty buckets", () => {
    expect(quantile(histogram([5, 0, 5, 0]), 0.5)).toEqual({ ms: 10, at_least: false });
    expect(quantile(histogram([5, 0, 5, 0]), 0.6)).toEqual({ ms: 24, at_least: false });
  });

  it("is a lower bound in the bucket without an upper one", () => {
    expect(quantile(histogram([1, 0, 0, 99]), 0.99)).toEqual({ ms: 40, at_least: true });
  });

  it("knows nothing of an empty histogram", () => {
    expect(quantile(histogram([0, 0, 0, 0]), 0.5)).toBeNull();
    expect(quantile(histogram([], []), 0.5)).toBeNull();
  });

  it("grows with the share and stays within the bounds", () => {
    const some = histogram([3, 14, 1, 5, 9], [1, 5, 25, 125]);
    const values = Array.from({ length: 101 }, (_, i) => quantile(some, i / 100)?.ms ?? NaN);
    for (let i = 1; i < values.length; ++i) expect(values[i]).toBeGreaterThanOrEqual(values[i - 1] ?? NaN);
    expect(values[100]).toBe(125);
    expect(quantile(some, 7)?.ms).toBe(125);
    expect(quantile(some, -1)?.ms).toBe(0);
  });
});

describe("short times", () => {
  it("keep the digits that matter", () => {
    expect([0, 0.1, 0.25, 1, 2.5, 9.96, 10, 1500].map(fine)).toEqual(["0ms", "0.1ms", "0.25ms", "1ms", "2.5ms", "10ms", "10ms", "1.5s"]);
  });
});

describe("mean", () => {
  it("is the sum by the count", () => {
    expect(mean(histogram([1, 3], [10], 100))).toBe(25);
  });

  it("is unknown of nothing", () => {
    expect(mean(histogram([0, 0], [10]))).toBeNull();
  });
});

describe("what of a histogram is drawn", () => {
  it("is what counts something, with one more on each side", () => {
    expect(shownBuckets(histogram([0, 0, 3, 0, 1, 0, 0], [1, 2, 5, 10, 20, 50]))).toEqual({ from: 1, to: 6 });
    expect(shownBuckets(histogram([3, 0, 0, 2]))).toEqual({ from: 0, to: 4 });
  });

  it("is nothing where nothing was counted", () => {
    expect(shownBuckets(histogram([0, 0, 0, 0]))).toEqual({ from: 0, to: 0 });
  });

  it("has every value within its bucket", () => {
    expect(placeOf([10, 20, 40], 0)).toBe(0);
    expect(placeOf([10, 20, 40], 10)).toBe(1);
    expect(placeOf([10, 20, 40], 30)).toBe(2.5);
    expect(placeOf([10, 20, 40], 9999)).toBe(3);
  });
});
