// SPDX-License-Identifier: Apache-2.0
//
// Which stretch of time is in view, and where a point in time is drawn.

/** Milliseconds since 1970; not whole ones while somebody zooms. */
export interface View {
  begin: number;
  end: number;
}

export const MIN_SPAN_MS = 20;
export const MAX_SPAN_MS = 7 * 24 * 3_600_000;
/** Of the view, left free beyond the present so that its line and marks can be seen. */
export const AHEAD = 0.04;
/** At least this much of the view shows a time in which something was told. */
const KEPT_IN_VIEW = 0.1;

export const spanOf = (view: View): number => view.end - view.begin;

export function toX(view: View, width: number, time: number): number {
  return ((time - view.begin) / spanOf(view)) * width;
}

export function toTime(view: View, width: number, x: number): number {
  return width <= 0 ? view.begin : view.begin + (x / width) * spanOf(view);
}

function ofSpan(view: View, anchor: number, span: number): View {
  const share = (anchor - view.begin) / spanOf(view);
  const begin = anchor - share * span;
  return { begin, end: begin + span };
}

/** Never narrower or wider than can be read, and never away from everything that was told. */
export function clamp(view: View, told: View): View {
  const wanted = Math.min(Math.max(spanOf(view), MIN_SPAN_MS), MAX_SPAN_MS);
  const middle = (view.begin + view.end) / 2;
  const begin = wanted === spanOf(view) ? view.begin : middle - wanted / 2;
  const first = told.begin - wanted * (1 - KEPT_IN_VIEW);
  const last = Math.max(first, told.end - wanted * KEPT_IN_VIEW);
  const kept = Math.min(Math.max(begin, first), last);
  return { begin: kept, end: kept + wanted };
}

/** A factor below 1 shows less time, larger; `anchor` stays where it is. */
export function zoom(view: View, anchor: number, factor: number, told: View): View {
  const span = Math.min(Math.max(spanOf(view) * factor, MIN_SPAN_MS), MAX_SPAN_MS);
  return clamp(ofSpan(view, anchor, span), told);
}

export function pan(view: View, by: number, told: View): View {
  return clamp({ begin: view.begin + by, end: view.end + by }, told);
}

/** The same length of time, with the present at its right end. */
export function follow(view: View, now: number): View {
  const end = now + spanOf(view) * AHEAD;
  return { begin: end - spanOf(view), end };
}

/** All of it, with a little room at both ends. */
export function fit(told: View): View {
  const length = Math.max(told.end - told.begin, MIN_SPAN_MS / 2);
  const room = length * AHEAD;
  return { begin: told.begin - room, end: told.begin + length + room };
}

const LIVELY_MS = 60_000;
const SPANS_MS = [5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000] as const;

/** How much time to show until somebody decides: all there is, in steps, so that it seldom jumps. */
export function spanFor(length: number, most = Infinity): number {
  return Math.min(SPANS_MS.find((span) => length <= span * (1 - 2 * AHEAD)) ?? 600_000, Math.max(most, SPANS_MS[0]));
}

/** Closer together than this, hand-overs cannot be told apart. */
const HAND_OVER_WIDTH = 14;

/** As many of the latest ones tell how often the lock goes from hand to hand. */
const LATEST = 50;

/** The longest time in which hand-overs that follow each other as the latest ones do can be told apart. */
export function readableSpan(handOvers: readonly number[], width: number): number {
  const times = [...handOvers].sort((a, b) => a - b).slice(-LATEST);
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? time)).sort((a, b) => a - b);
  const typical = gaps[Math.floor(gaps.length / 2)];
  if (typical === undefined || width <= 0) return Infinity;
  const span = (width / HAND_OVER_WIDTH) * typical;
  return SPANS_MS.findLast((step) => step <= span) ?? SPANS_MS[0];
}

export interface FirstView {
  view: View;
  follows: boolean;
}

/** What to show first: the present while something goes on, else all of what is over. */
export function firstView(told: View, lastEvent: number | null, isOpen: boolean, now: number): FirstView {
  const isLively = isOpen || (lastEvent !== null && now - lastEvent < LIVELY_MS);
  if (!isLively && lastEvent !== null) return { view: fit({ begin: told.begin, end: lastEvent }), follows: false };
  const span = spanFor(now - told.begin);
  return { view: follow({ begin: now - span, end: now }, now), follows: true };
}
