// SPDX-License-Identifier: Apache-2.0
import { Component, type ComponentChildren } from "preact";

export interface Column<T> {
  key: string;
  title: string;
  /** Its width, as a track of a CSS grid. */
  track: string;
  numeric?: boolean;
  sortable?: boolean;
  render: (row: T, now: number) => ComponentChildren;
}

export interface RowProps<T> {
  id: string;
  row: T;
  index: number;
  /** As it is counted aloud: from 1, with the header. */
  ariaIndex: number;
  top: number;
  height: number;
  active: boolean;
  now: number;
  /** Null at phone width, where `card` says it all. */
  columns: readonly Column<T>[] | null;
  tracks: string;
  card: (row: T, now: number) => ComponentChildren;
  onPick: (index: number) => void;
}

/** A link goes where it leads, into another tab if one wants it so. */
function isLink(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a, button") !== null;
}

/** One row; rendered again only if something of it changed, so that scrolling makes new rows only. */
export class VirtualRow<T> extends Component<RowProps<T>> {
  override shouldComponentUpdate(next: RowProps<T>): boolean {
    return (Object.keys(next) as (keyof RowProps<T>)[]).some((key) => next[key] !== this.props[key]);
  }

  override render() {
    const { id, row, index, ariaIndex, top, height, active, now, columns, tracks, card, onPick } = this.props;
    const place = { transform: `translateY(${top}px)`, height: `${height}px` };
    return (
      <div
        id={id}
        role="row"
        aria-rowindex={ariaIndex}
        class={active ? "vt-row active" : "vt-row"}
        style={columns === null ? place : { ...place, gridTemplateColumns: tracks }}
        onClick={(event) => { if (!isLink(event.target)) onPick(index); }}
      >
        {columns === null ? (
          <div role="gridcell" class="vt-card">
            {card(row, now)}
          </div>
        ) : (
          columns.map((column) => (
            <div key={column.key} role="gridcell" class={column.numeric === true ? "vt-cell number" : "vt-cell"}>
              {column.render(row, now)}
            </div>
          ))
        )}
      </div>
    );
  }
}
