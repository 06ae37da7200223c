// SPDX-License-Identifier: Apache-2.0
//
// Which rows of a long table are in the document, and where its keys lead.

export interface Window {
  from: number;
  /** Behind the last one. */
  to: number;
}

export function windowOf(scrollTop: number, viewHeight: number, rowHeight: number, count: number, overscan: number): Window {
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight) - overscan;
  const from = Math.min(Math.max(0, first), Math.max(0, count - 1));
  const last = Math.ceil((Math.max(0, scrollTop) + viewHeight) / rowHeight) + overscan;
  return { from: count === 0 ? 0 : from, to: Math.min(count, Math.max(last, from)) };
}

/** The row that a key leads to, or null where the key is none of the table's. */
export function keyTarget(key: string, active: number, count: number, pageRows: number): number | null {
  if (count === 0) return null;
  const step = Math.max(1, pageRows - 1);
  const targets: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + step,
    PageUp: active - step,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  return target === undefined ? null : Math.min(count - 1, Math.max(0, target));
}

/** Where to scroll so that the row can be seen below a header of the given height; null: it can already. */
export function scrollFor(index: number, scrollTop: number, viewHeight: number, rowHeight: number): number | null {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  const over = top + rowHeight - (scrollTop + viewHeight);
  return over > 0 ? scrollTop + over : null;
}
