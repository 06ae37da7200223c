// SPDX-License-Identifier: Apache-2.0
//
// Where lanes stand, and what of a lane is drawn. However many events there are, no more is drawn
// than can be told apart on the screen.
import { toX, type View } from "./scale";
import type { Lane, Mark, MarkType, Span } from "./span";

export const ROW = 20;
export const HOLD_HEIGHT = 14;
export const WAIT_HEIGHT = 8;
const PADDING = 5;
/** On narrow screens the label stands above its lane instead of beside it. */
const LABEL = 17;
/** Thinner than this cannot be told from its neighbours. */
const LEAST_WIDTH = 2;
/** So many pixels beyond the edge are drawn as well, for what slides into view. */
export const MARGIN = 80;

export interface Places {
  /** By the index of a lane. */
  top: number[];
  height: number[];
  /** The first row's distance from the top of its lane. */
  inset: number;
  total: number;
}

export function placeLanes(lanes: readonly Lane[], order: readonly string[], narrow: boolean): Places {
  const index = new Map(lanes.map((lane, i) => [lane.key, i]));
  const inset = PADDING + (narrow ? LABEL : 0);
  const places: Places = { top: [], height: [], inset, total: 0 };
  for (const key of order) {
    const i = index.get(key);
    const lane = i === undefined ? undefined : lanes[i];
    if (i === undefined || lane === undefined) continue;
    places.top[i] = places.total;
    places.height[i] = Math.max(inset + lane.rows * ROW + PADDING, narrow ? 0 : 34);
    places.total += places.height[i] ?? 0;
  }
  return places;
}

/** The middle of a row. */
export function rowY(places: Places, lane: number, row: number, rows: number): number {
  const height = places.height[lane] ?? 0;
  const spare = Math.max(0, height - places.inset - PADDING - rows * ROW) / 2;
  return (places.top[lane] ?? 0) + places.inset + spare + row * ROW + ROW / 2;
}

/**
 * Lanes keep their places while the lock goes from hand to hand: whoever is new comes after whom it
 * follows in the wanted order, and nobody else moves.
 */
export function steadyOrder(before: readonly string[], wanted: readonly string[]): string[] {
  const isWanted = new Set(wanted);
  const order = before.filter((key) => isWanted.has(key));
  const known = new Set(order);
  wanted.forEach((key, i) => {
    if (known.has(key)) return;
    const previous = i === 0 ? undefined : wanted[i - 1];
    order.splice(previous === undefined ? 0 : order.indexOf(previous) + 1, 0, key);
    known.add(key);
  });
  return order;
}

export interface Piece {
  x: number;
  width: number;
  /** The first of them. */
  span: Span;
  /** How many spans are drawn as one, because each would be too thin. */
  count: number;
}

/** What is drawn of a lane's spans, which are sorted by their begins. */
export function pieces(spans: readonly Span[], view: View, width: number): Piece[] {
  const drawn: Piece[] = [];
  const last = new Map<string, Piece>();
  for (const span of spans) {
    const from = Math.max(toX(view, width, span.begin), -MARGIN);
    const isOpen = span.outcome === "open";
    const to = isOpen ? width + MARGIN : Math.min(toX(view, width, span.end), width + MARGIN);
    if (to < -MARGIN || from > width + MARGIN) continue;
    const kind = `${span.what}${span.row}`;
    const before = last.get(kind);
    const isThin = to - from < LEAST_WIDTH;
    if (isThin && before !== undefined && from - (before.x + before.width) < 1 && isThinOrMany(before)) {
      before.width = Math.max(before.width, to - before.x, LEAST_WIDTH);
      before.count += 1;
      continue;
    }
    const piece = { x: from, width: Math.max(to - from, LEAST_WIDTH), span, count: 1 };
    drawn.push(piece);
    last.set(kind, piece);
  }
  return drawn;
}

const isThinOrMany = (piece: Piece): boolean => piece.count > 1 || piece.width <= LEAST_WIDTH;

const GLYPH_WIDTH: Record<MarkType, number> = { renewed: 3, lost: 7, forced: 7, expired: 7, deadlock: 7, left: 6 };

export interface ShownMark {
  x: number;
  mark: Mark;
  /** How many of the same type are drawn as one. */
  count: number;
}

/** Two glyphs of different types are at least this far apart, so that one can tell that there are two. */
const APART = 10;

/** Marks of one type that would cover each other are drawn once; one of another type moves aside. */
export function shownMarks(marks: readonly Mark[], view: View, width: number): ShownMark[] {
  const shown: ShownMark[] = [];
  const last = new Map<string, ShownMark>();
  const lastGlyph = new Map<number, number>();
  for (const mark of marks) {
    const x = toX(view, width, mark.at);
    if (x < -MARGIN || x > width + MARGIN) continue;
    const before = last.get(`${mark.type}${mark.row}`);
    if (before !== undefined && x - before.x < GLYPH_WIDTH[mark.type]) {
      before.count += 1;
      continue;
    }
    const entry = { x: mark.type === "renewed" ? x : Math.max(x, (lastGlyph.get(mark.row) ?? -Infinity) + APART), mark, count: 1 };
    if (mark.type !== "renewed") lastGlyph.set(mark.row, entry.x);
    shown.push(entry);
    last.set(`${mark.type}${mark.row}`, entry);
  }
  return shown;
}
