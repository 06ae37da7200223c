// SPDX-License-Identifier: Apache-2.0
//
// Estimates from histograms: all that is known of a value is between which bounds it lies.
import type { Histogram } from "../api/types";
import { short } from "./duration";

export interface Estimate {
  ms: number;
  /** True: at least this much, since the last bucket has no upper bound. */
  at_least: boolean;
}

/**
 * The value below which `share` (0..1) of all lie, as if they were spread evenly within each bucket.
 * Null where nothing was counted.
 */
export function quantile(histogram: Histogram, share: number): Estimate | null {
  const counts = histogram.counts.map((count) => Math.max(0, count));
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  const wanted = Math.min(Math.max(share, 0), 1) * total;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= wanted) return within(histogram.bounds_ms, index, (wanted - below) / count);
    below += count;
  }
  return { ms: histogram.bounds_ms.at(-1) ?? 0, at_least: true };
}

function within(bounds: readonly number[], index: number, share: number): Estimate {
  const lower = index === 0 ? 0 : (bounds[index - 1] ?? bounds.at(-1) ?? 0);
  const upper = bounds[index];
  if (upper === undefined) return { ms: lower, at_least: true };
  return { ms: lower + (upper - lower) * share, at_least: false };
}

/** "0.25ms", "2.5ms": short times need more digits than whole milliseconds. From 10 ms on as everywhere. */
export function fine(ms: number): string {
  return ms > 0 && ms < 10 ? `${Number(ms.toPrecision(2))}ms` : short(ms);
}

/** The mean is exact: the server adds up what it counts. Null where nothing was counted. */
export function mean(histogram: Histogram): number | null {
  return histogram.count > 0 ? histogram.sum_ms / histogram.count : null;
}

/** The buckets from the first to the last that counts something, and one more on each side. */
export function shownBuckets(histogram: Histogram): { from: number; to: number } {
  const first = histogram.counts.findIndex((count) => count > 0);
  if (first < 0) return { from: 0, to: 0 };
  const last = histogram.counts.findLastIndex((count) => count > 0);
  return { from: Math.max(0, first - 1), to: Math.min(histogram.counts.length, last + 2) };
}

/** Where a value lies on an axis on which all buckets are equally wide: 2.5 is the middle of the third. */
export function placeOf(bounds: readonly number[], ms: number): number {
  const index = bounds.findIndex((bound) => ms <= bound);
  if (index < 0) return bounds.length;
  const lower = index === 0 ? 0 : (bounds[index - 1] ?? 0);
  const upper = bounds[index] ?? lower;
  return index + (upper > lower ? Math.max(0, ms - lower) / (upper - lower) : 0);
}
