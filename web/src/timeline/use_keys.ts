// SPDX-License-Identifier: Apache-2.0
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Target } from "./hit";
import { firstSpan, neighbour } from "./navigate";
import type { Picture } from "./span";
import type { Control } from "./use_control";

interface Props {
  frame: RefObject<HTMLElement>;
  picture: Picture;
  order: readonly string[];
  control: Control;
  width: number;
  toggle: () => void;
  selected: Target | null;
  select: (id: string | null) => void;
}

const ZOOM = 0.6;

/** Keys that mean the same wherever the focus is within the picture. */
function general(key: string, { control, toggle }: Props): boolean {
  if (key === "+" || key === "=") control.zoomAt(null, ZOOM);
  else if (key === "-" || key === "_") control.zoomAt(null, 1 / ZOOM);
  else if (key === "0") control.fitAll();
  else if (key === " ") toggle();
  else if (key === "End") {
    if (!control.follows) control.followNow();
  } else return false;
  return true;
}

function pan(key: string, { control, width }: Props): boolean {
  if (key !== "ArrowLeft" && key !== "ArrowRight") return false;
  control.panBy((key === "ArrowLeft" ? 1 : -1) * Math.max(20, width / 6));
  return true;
}

/** The picture's keys; arrows move the time, or from span to span once one of them is focused. */
export function useKeys(props: Props): (event: KeyboardEvent) => void {
  const { frame, picture, order, control, selected, select } = props;
  const wanted = useRef<string | null>(null);

  useEffect(() => {
    if (wanted.current === null) return;
    frame.current?.querySelector<SVGGElement>(`[data-id="${CSS.escape(wanted.current)}"]`)?.focus();
    wanted.current = null;
  });

  const go = (found: ReturnType<typeof firstSpan>): void => {
    if (found === null) return;
    wanted.current = found.span.id;
    select(found.span.id);
    control.show(found.span);
  };

  const amongSpans = (event: KeyboardEvent): boolean => {
    if (event.key === "Escape") {
      frame.current?.focus();
      select(null);
      return true;
    }
    if (!event.key.startsWith("Arrow") || selected?.kind !== "span") return false;
    go(neighbour(picture.lanes, order, selected, event.key));
    return true;
  };

  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isSpan = event.target instanceof Element && event.target.closest("[data-id]") !== null;
    if (event.target !== frame.current && !isSpan) return;
    let isOurs = general(event.key, props) || (isSpan ? amongSpans(event) : pan(event.key, props));
    if (!isOurs && !isSpan && event.key === "Enter") {
      go(selected?.kind === "span" ? selected : firstSpan(picture.lanes, order));
      isOurs = true;
    }
    if (isOurs) event.preventDefault();
  };
}
