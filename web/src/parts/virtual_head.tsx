// SPDX-License-Identifier: Apache-2.0
import type { Column } from "./virtual_row";

export interface Sort {
  key: string;
  /** The largest first. */
  down: boolean;
}

interface Props<T> {
  columns: readonly Column<T>[];
  tracks: string;
  sort: Sort | null;
  onSort: (key: string) => void;
}

function ariaSort(sort: Sort | null, key: string): "ascending" | "descending" | "none" {
  if (sort?.key !== key) return "none";
  return sort.down ? "descending" : "ascending";
}

function arrowOf(sort: Sort | null, key: string): string {
  if (sort?.key !== key) return "";
  return sort.down ? "▾" : "▴";
}

/** The header of a long table; what can be sorted by is a button. */
export function VirtualHead<T>({ columns, tracks, sort, onSort }: Props<T>) {
  return (
    <div role="row" aria-rowindex={1} class="vt-head" style={{ gridTemplateColumns: tracks }}>
      {columns.map((column) => {
        const look = column.numeric === true ? "vt-cell number" : "vt-cell";
        if (column.sortable !== true) {
          return (
            <div key={column.key} role="columnheader" class={look}>
              {column.title}
            </div>
          );
        }
        return (
          <div key={column.key} role="columnheader" class={look} aria-sort={ariaSort(sort, column.key)}>
            <button type="button" class="vt-sort" onClick={() => { onSort(column.key); }}>
              {column.title}
              <span class="arrow" aria-hidden="true">
                {arrowOf(sort, column.key)}
              </span>
            </button>
          </div>
        );
      })}
    </div>
  );
}
