// SPDX-License-Identifier: Apache-2.0
//
// What the pages show of the board: filtered, sorted, and the few that matter most.
import type { Kind } from "../api/types";
import type { Row } from "./row";

export type SortKey = "name" | "age" | "queue" | "wait";

export interface View {
  prefix: string;
  /** Null: every kind. */
  kind: Kind | null;
  sort: SortKey;
  /** The largest first; of names, from the end of the alphabet. */
  down: boolean;
}

const SORT_KEYS: readonly SortKey[] = ["name", "age", "queue", "wait"];

/** A click on a header: by name from the beginning of the alphabet, by everything else the largest first; once more turns it round. */
export function sortedBy(view: View, key: string): View {
  const sort = SORT_KEYS.find((known) => known === key);
  if (sort === undefined) return view;
  return { ...view, sort, down: view.sort === sort ? !view.down : sort !== "name" };
}

/** Since when it has been held, by whoever has held it longest; null: nobody holds it. */
export function heldSince(row: Row): number | null {
  return row.holders.reduce<number | null>((first, held) => (first === null || held.since < first ? held.since : first), null);
}

/** Since when the one has waited who has waited longest; null: nobody waits. */
export function waitingSince(row: Row): number | null {
  return row.waiters.reduce<number | null>((first, waiter) => (first === null || waiter.since < first ? waiter.since : first), null);
}

/** Times are the larger the longer ago they are; nobody is less than anybody. */
function weight(row: Row, sort: SortKey): number {
  if (sort === "queue") return row.waiters.length;
  const since = sort === "age" ? heldSince(row) : waitingSince(row);
  return since === null ? Number.NEGATIVE_INFINITY : -since;
}

function byName(a: Row, b: Row): number {
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}

function compare(a: number, b: number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Equal ones stand in the order of their names, so that rows do not dance. */
export function viewOf(rows: Iterable<Row>, view: View): Row[] {
  const chosen: Row[] = [];
  for (const row of rows) {
    if ((view.kind === null || row.kind === view.kind) && row.name.startsWith(view.prefix)) chosen.push(row);
  }
  const sign = view.down ? -1 : 1;
  if (view.sort === "name") return chosen.sort((a, b) => sign * byName(a, b));
  const weighed = chosen.map((row) => ({ row, weight: weight(row, view.sort) }));
  weighed.sort((a, b) => sign * compare(a.weight, b.weight) || byName(a.row, b.row));
  return weighed.map(({ row }) => row);
}

/** The `most` rows of the largest weight, without those that `of` has null for. */
export function top(rows: Iterable<Row>, most: number, of: (row: Row) => number | null): Row[] {
  const best: { row: Row; weight: number }[] = [];
  for (const row of rows) {
    const found = of(row);
    if (found === null) continue;
    const last = best[best.length - 1];
    if (best.length >= most && last !== undefined && found <= last.weight) continue;
    const at = best.findIndex((other) => found > other.weight);
    best.splice(at < 0 ? best.length : at, 0, { row, weight: found });
    if (best.length > most) best.pop();
  }
  return best.map(({ row }) => row);
}

export interface Summary {
  held: number;
  waiters: number;
  oldest: Row[];
  contended: Row[];
}

export function summaryOf(rows: ReadonlyMap<string, Row>, most = 5): Summary {
  let held = 0;
  let waiters = 0;
  for (const row of rows.values()) {
    if (row.holders.length > 0) ++held;
    waiters += row.waiters.length;
  }
  const oldest = top(rows.values(), most, (row) => {
    const since = heldSince(row);
    return since === null ? null : -since;
  });
  const contended = top(rows.values(), most, (row) => (row.waiters.length === 0 ? null : row.waiters.length));
  return { held, waiters, oldest, contended };
}
