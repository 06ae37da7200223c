// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { Rate, Skew } from "../src/state/clock";

const iso = (ms: number) => new Date(ms).toISOString();

describe("the age of an event", () => {
  test("does not depend on how far apart the clocks are", () => {
    for (const offset of [-3_600_000, 0, 90_000]) {
      const skew = new Skew();
      skew.age(iso(1_000_000), 1_000_000 + offset + 5);
      expect(skew.age(iso(1_000_000), 1_004_000 + offset + 5)).toBe(4000);
    }
  });

  test("is never negative, and 0 where the time cannot be read", () => {
    const skew = new Skew();
    expect(skew.age(iso(1_000_000), 1_000_900)).toBe(0);
    expect(skew.age(iso(1_001_000), 1_001_100)).toBe(0);
    expect(skew.age("never", 1_001_100)).toBe(0);
  });
});

describe("a rate", () => {
  test("is over the full seconds that are past", () => {
    const rate = new Rate(5);
    for (let second = 0; second < 8; ++second) rate.add(100, second * 1000 + 500);
    expect(rate.value(7900)).toBe(100);
    expect(rate.value(8000)).toBe(100);
  });

  test("falls to nothing when nothing comes", () => {
    const rate = new Rate(5);
    rate.add(400, 500);
    expect(rate.value(1500)).toBe(100);
    expect(rate.value(60_000)).toBe(0);
  });
});
