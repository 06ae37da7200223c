// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren, RefObject } from "preact";
import { useCallback, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { PHONE, useMedia } from "./media";
import { VirtualHead, type Sort } from "./virtual_head";
import { VirtualRow, type Column } from "./virtual_row";
import { keyTarget, scrollFor, windowOf } from "./window";
import "../style/virtual_table.css";

export type { Sort } from "./virtual_head";
export type { Column } from "./virtual_row";

const ROW_PX = 36;
const CARD_PX = 62;
const HEAD_PX = 34;
const OVERSCAN = 8;

interface Props<T> {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** A row at phone width: two lines. */
  card: (row: T, now: number) => ComponentChildren;
  /** performance.now() of those cells that tick. */
  now: number;
  sort?: Sort | null;
  onSort?: (key: string) => void;
  onOpen?: (row: T) => void;
}

interface View {
  top: number;
  height: number;
}

/** How far it is scrolled and how high it is, once per frame at most. */
function useView(box: RefObject<HTMLDivElement>): View {
  const [view, setView] = useState<View>({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      const next = { top: element.scrollTop, height: element.clientHeight };
      setView((before) => (before.top === next.top && before.height === next.height ? before : next));
    };
    const soon = () => { if (frame === 0) frame = requestAnimationFrame(look); };
    look();
    element.addEventListener("scroll", soon, { passive: true });
    const size = new ResizeObserver(soon);
    size.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("scroll", soon);
      size.disconnect();
    };
  }, [box]);
  return view;
}

interface Cursor {
  active: number;
  pick: (index: number) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** The row that the keys are on. `room` is the height that rows have. */
function useCursor<T>(box: RefObject<HTMLDivElement>, props: Props<T>, scrollTop: number, room: number, rowHeight: number): Cursor {
  const { rows } = props;
  const [picked, setPicked] = useState(0);
  const active = Math.min(picked, Math.max(0, rows.length - 1));
  const current = useRef(props);
  current.current = props;
  const pick = useCallback((index: number) => {
    setPicked(index);
    const row = current.current.rows[index];
    if (row !== undefined) current.current.onOpen?.(row);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== box.current) return;
    if (event.key === "Enter") {
      pick(active);
      return;
    }
    const target = keyTarget(event.key, active, rows.length, Math.floor(room / rowHeight));
    if (target === null) return;
    event.preventDefault();
    setPicked(target);
    const scroll = scrollFor(target, scrollTop, room, rowHeight);
    if (scroll !== null && box.current !== null) box.current.scrollTop = scroll;
  };
  return { active, pick, onKeyDown };
}

/** A table of thousands of rows of one height; only those in view are in the document. */
export function VirtualTable<T>(props: Props<T>) {
  const { rows, columns, onSort } = props;
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const phone = useMedia(PHONE);
  const view = useView(box);
  const [focused, setFocused] = useState(false);
  const rowHeight = phone ? CARD_PX : ROW_PX;
  const room = view.height - (phone ? 0 : HEAD_PX);
  const inView = windowOf(view.top, room, rowHeight, rows.length, OVERSCAN);
  const tracks = columns.map((column) => column.track).join(" ");
  const { active, pick, onKeyDown } = useCursor(box, props, view.top, room, rowHeight);
  // A row that is not in the document cannot be the one that is read aloud.
  const activeShown = active >= inView.from && active < inView.to;
  return (
    <div
      ref={box}
      class={phone ? "vt phone" : "vt"}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={rows.length + (phone ? 0 : 1)}
      aria-colcount={phone ? 1 : columns.length}
      aria-activedescendant={activeShown ? `${id}-${active}` : undefined}
      onKeyDown={onKeyDown}
      onFocus={() => { setFocused(true); }}
      onBlur={() => { setFocused(false); }}
    >
      {phone ? null : <VirtualHead columns={columns} tracks={tracks} sort={props.sort ?? null} onSort={(key) => onSort?.(key)} />}
      <div role="rowgroup" class="vt-body" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(inView.from, inView.to).map((row, i) => {
          const index = inView.from + i;
          return (
            <VirtualRow
              key={props.keyOf(row)}
              id={`${id}-${index}`}
              row={row}
              index={index}
              ariaIndex={index + (phone ? 1 : 2)}
              top={index * rowHeight}
              height={rowHeight}
              active={focused && index === active}
              now={props.now}
              columns={phone ? null : columns}
              tracks={tracks}
              card={props.card}
              onPick={pick}
            />
          );
        })}
      </div>
    </div>
  );
}
