// SPDX-License-Identifier: Apache-2.0
import type { Span, StatsHistory } from "../api/types";

type Column = readonly (number | null)[];

/** The newest value that is known, or null. */
export function latest(values: Column): number | null {
  for (let i = values.length - 1; i >= 0; --i) {
    const value = values[i];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

export function total(values: Column): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** "now 12, lowest 3, highest 40", for those who cannot see the chart. */
export function spoken(values: Column, format: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  const now = latest(values);
  if (now === null) return "nothing known yet";
  return `now ${format(now)}, lowest ${format(Math.min(...known))}, highest ${format(Math.max(...known))}`;
}

/** When each step ended, in seconds, as the chart wants it. */
export function secondsOf(history: StatsHistory): number[] {
  return history.at.map((at) => Date.parse(at) / 1000);
}

const SPAN_SECONDS: Record<Span, number> = { "1m": 60, "15m": 900, "1h": 3600 };

export function secondsIn(span: Span): number {
  return SPAN_SECONDS[span];
}

/** How often a history of this step is worth asking for. */
export function pollEvery(stepMs: number | undefined): number {
  return Math.min(10_000, Math.max(1000, stepMs ?? 2000));
}
