// SPDX-License-Identifier: Apache-2.0
//
// Where the axis has its lines: at round times of the viewer's zone.
import { spanOf, type View } from "./scale";

export interface Tick {
  at: number;
  label: string;
  /** A full second among milliseconds, a new day among hours: drawn stronger. */
  major: boolean;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500,
  SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND,
  MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY,
] as const;

/** What to add to a time on the viewer's clock, at about `time`, to get UTC. */
export type ZoneOffset = (time: number) => number;

const ofBrowser: ZoneOffset = (time) => new Date(time).getTimezoneOffset() * MINUTE;

export function stepFor(span: number, most: number): number {
  return STEPS.find((step) => span / step <= most) ?? 7 * DAY;
}

const two = (value: number): string => String(value).padStart(2, "0");

function label(local: number, step: number): string {
  const date = new Date(local);
  const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
  if (step >= DAY || (step >= HOUR && local % DAY === 0)) {
    return date.toLocaleDateString(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
  }
  if (step >= MINUTE) return clock;
  if (step >= SECOND || local % SECOND === 0) return `${clock}:${two(date.getUTCSeconds())}`;
  return `.${String(date.getUTCMilliseconds()).padStart(3, "0")}`;
}

function isMajor(local: number, step: number): boolean {
  const larger = step < SECOND ? SECOND : step < MINUTE ? MINUTE : step < HOUR ? HOUR : DAY;
  return step < DAY && local % larger === 0;
}

/** At most `most` ticks, but for one at each end. */
export function ticks(view: View, most: number, offset: ZoneOffset = ofBrowser): Tick[] {
  const step = stepFor(spanOf(view), Math.max(1, most));
  const found: Tick[] = [];
  const last = view.end - Math.min(offset(view.begin), offset(view.end));
  let before = -Infinity;
  for (let local = Math.ceil((view.begin - offset(view.begin)) / step) * step; local <= last; local += step) {
    // Twice, because the first guess may lie on the other side of a change of the clock.
    const at = local + offset(local + offset(local + offset(view.begin)));
    if (at < view.begin || at > view.end || at <= before) continue;
    found.push({ at, label: label(local, step), major: isMajor(local, step) });
    before = at;
  }
  return found;
}
