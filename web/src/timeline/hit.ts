// SPDX-License-Identifier: Apache-2.0
//
// What is under a point of the picture. Thin spans and small marks are found a little beside them,
// too: a finger is wider than they are.
import { rowY, ROW, type Places } from "./geometry";
import { toTime, spanOf, type View } from "./scale";
import type { Lane, Mark, Picture, Span } from "./span";

export type Target = { kind: "span"; lane: Lane; span: Span } | { kind: "mark"; lane: Lane | null; mark: Mark };

export const idOf = (target: Target): string => (target.kind === "span" ? target.span.id : target.mark.id);

const NEAR_SPAN = 4;
const NEAR_MARK = 7;

function nearestMark(lane: Lane, row: number, time: number, within: number): Mark | null {
  let found: Mark | null = null;
  for (const mark of lane.marks) {
    const isNear = mark.row === row && Math.abs(mark.at - time) <= within * (mark.type === "renewed" ? 0.5 : 1);
    if (isNear && (found === null || rank(mark, time) < rank(found, time))) found = mark;
  }
  return found;
}

// A renewal is the least that one looks for among marks that lie close together.
function rank(mark: Mark, time: number): number {
  return Math.abs(mark.at - time) + (mark.type === "renewed" ? 1e6 : 0);
}

function nearestSpan(lane: Lane, row: number, time: number, within: number): Span | null {
  let found: Span | null = null;
  let least = within;
  for (const span of lane.spans) {
    if (span.row !== row) continue;
    const end = span.outcome === "open" ? Infinity : span.end;
    const distance = Math.max(0, span.begin - time, time - end);
    if (distance < least || (distance === 0 && found === null)) {
      found = span;
      least = distance;
    }
  }
  return found;
}

export function targetAt(picture: Picture, places: Places, view: View, width: number, x: number, y: number): Target | null {
  const index = picture.lanes.findIndex((_, i) => y >= (places.top[i] ?? Infinity) && y < (places.top[i] ?? 0) + (places.height[i] ?? 0));
  const lane = picture.lanes[index];
  if (lane === undefined || width <= 0) return null;
  const first = rowY(places, index, 0, lane.rows);
  const row = Math.min(Math.max(Math.round((y - first) / ROW), 0), lane.rows - 1);
  const time = toTime(view, width, x);
  const pixel = spanOf(view) / width;
  const mark = nearestMark(lane, row, time, NEAR_MARK * pixel);
  if (mark !== null) return { kind: "mark", lane, mark };
  const span = nearestSpan(lane, row, time, NEAR_SPAN * pixel);
  return span === null ? null : { kind: "span", lane, span };
}

export function targetOf(picture: Picture, id: string | null): Target | null {
  if (id === null) return null;
  for (const lane of picture.lanes) {
    const span = lane.spans.find((each) => each.id === id);
    if (span !== undefined) return { kind: "span", lane, span };
    const mark = lane.marks.find((each) => each.id === id);
    if (mark !== undefined) return { kind: "mark", lane, mark };
  }
  const mark = picture.marks.find((each) => each.id === id);
  return mark === undefined ? null : { kind: "mark", lane: null, mark };
}
