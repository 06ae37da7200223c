// SPDX-License-Identifier: Apache-2.0
//
// Who got the lock from whom: a hold that was waited for, and the hold whose end made room for it.
import type { HandOver, Lane, Span } from "./span";

/** The server looks at the store twice a second, so the two ends may be told this far apart. */
const GAP_MS = 1500;

interface Placed {
  lane: number;
  span: Span;
}

function holdsOf(lanes: readonly Lane[]): Placed[] {
  const holds: Placed[] = [];
  lanes.forEach((lane, index) => {
    for (const span of lane.spans) if (span.what === "held") holds.push({ lane: index, span });
  });
  return holds;
}

/** How many of `ended`, which is sorted by its ends, ended at `time` or before. */
function endedBy(ended: readonly Placed[], time: number): number {
  let low = 0;
  let high = ended.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const placed = ended[middle];
    if (placed !== undefined && placed.span.end <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function giver(taker: Placed, ended: readonly Placed[]): Placed | null {
  const since = taker.span.waited_since;
  if (since === null) return null;
  for (let index = endedBy(ended, taker.span.begin) - 1; index >= 0; index -= 1) {
    const candidate = ended[index];
    if (candidate === undefined || candidate.span.end < taker.span.begin - GAP_MS) return null;
    // Whoever came after that end did not get the lock from it.
    if (candidate.span.end < since) return null;
    if (candidate.lane !== taker.lane) return candidate;
  }
  return null;
}

export function handOvers(lanes: readonly Lane[]): HandOver[] {
  const holds = holdsOf(lanes);
  const ended = holds.filter(({ span }) => span.outcome !== "open").sort((a, b) => a.span.end - b.span.end);
  const found: HandOver[] = [];
  for (const taker of holds) {
    const from = giver(taker, ended);
    if (from === null) continue;
    found.push({
      id: `${from.span.id}>${taker.span.id}`, from: from.lane, from_row: from.span.row, end: from.span.end,
      to: taker.lane, to_row: taker.span.row, begin: taker.span.begin,
    });
  }
  return found;
}
