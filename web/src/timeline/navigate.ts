// SPDX-License-Identifier: Apache-2.0
import type { Lane, Span } from "./span";

export interface Found {
  lane: Lane;
  span: Span;
}

export function findSpan(lanes: readonly Lane[], id: string | null): Found | null {
  if (id === null) return null;
  for (const lane of lanes) {
    const span = lane.spans.find((each) => each.id === id);
    if (span !== undefined) return { lane, span };
  }
  return null;
}

function nearest(lane: Lane, time: number): Span | undefined {
  const distance = (span: Span): number => Math.max(0, span.begin - time, time - span.end);
  return lane.spans.reduce<Span | undefined>((best, span) => (best === undefined || distance(span) < distance(best) ? span : best), undefined);
}

/** Where an arrow key leads from a span: along its lane, or to the next lane at about the same time. */
export function neighbour(lanes: readonly Lane[], order: readonly string[], from: Found, key: string): Found | null {
  const { lane, span } = from;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const next = lane.spans[lane.spans.indexOf(span) + (key === "ArrowLeft" ? -1 : 1)];
    return next === undefined ? null : { lane, span: next };
  }
  const step = key === "ArrowUp" ? -1 : 1;
  for (let i = order.indexOf(lane.key) + step; i >= 0 && i < order.length; i += step) {
    const other = lanes.find((each) => each.key === order[i]);
    const next = other === undefined ? undefined : nearest(other, (span.begin + span.end) / 2);
    if (other !== undefined && next !== undefined) return { lane: other, span: next };
  }
  return null;
}

/** Where to begin: the latest span of the first lane that has one. */
export function firstSpan(lanes: readonly Lane[], order: readonly string[]): Found | null {
  for (const key of order) {
    const lane = lanes.find((each) => each.key === key);
    const span = lane?.spans.at(-1);
    if (lane !== undefined && span !== undefined) return { lane, span };
  }
  return null;
}
