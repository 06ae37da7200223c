// SPDX-License-Identifier: Apache-2.0

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function two(whole: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit} ${rest}${restUnit}`;
}

/** "250ms", "9.4s", "42s", "3m 5s", "2h 10m", "4d 3h"; rounded down, so that it never promises too much. */
export function short(ms: number): string {
  const time = Math.max(0, ms);
  if (time < SECOND) return `${Math.floor(time)}ms`;
  if (time < 10 * SECOND) return `${(Math.floor(time / 100) / 10).toFixed(1)}s`;
  if (time < MINUTE) return `${Math.floor(time / SECOND)}s`;
  if (time < HOUR) return two(Math.floor(time / MINUTE), "m", Math.floor((time % MINUTE) / SECOND), "s");
  if (time < DAY) return two(Math.floor(time / HOUR), "h", Math.floor((time % HOUR) / MINUTE), "m");
  return two(Math.floor(time / DAY), "d", Math.floor((time % DAY) / HOUR), "h");
}

/** The same, with a digit behind the point below 10 ms, where it matters for a store. */
export function fine(ms: number): string {
  return ms > 0 && ms < 10 ? `${ms.toFixed(1)}ms` : short(ms);
}

/** The same in whole seconds, for what ticks once a second. */
export function ticking(ms: number): string {
  return ms < 10 * SECOND ? `${Math.floor(Math.max(0, ms) / SECOND)}s` : short(ms);
}

/** One integer and one unit, as the server reads it: "30s" is 30000. Null if it is not that. */
export function parseDuration(text: string): number | null {
  const found = /^(\d{1,9})(ms|s|m|h)$/.exec(text.trim());
  const unit = UNITS[found?.[2] ?? ""];
  return found === null || unit === undefined ? null : Number(found[1]) * unit;
}
