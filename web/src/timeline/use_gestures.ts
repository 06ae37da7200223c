// SPDX-License-Identifier: Apache-2.0
//
// Drag, pinch and wheel. A wheel over the lanes scrolls the page, as everywhere; it zooms over the
// axis, or with Ctrl.
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface Gestures {
  /** `x` in pixels from the left edge of the plot. */
  zoomAt(x: number, factor: number): void;
  /** To the right is positive, and shows what was before. */
  panBy(pixels: number): void;
}

const DRAG_BEGINS = 4;

export function wheelFactor(deltaY: number, deltaMode: number): number {
  const pixels = deltaMode === 1 ? deltaY * 16 : deltaMode === 2 ? deltaY * 400 : deltaY;
  return Math.exp(Math.max(-240, Math.min(240, pixels)) / 300);
}

interface Finger {
  x: number;
  y: number;
}

class Fingers {
  readonly #down = new Map<number, Finger>();
  #isDrag = false;
  #from: Finger = { x: 0, y: 0 };

  constructor(private readonly plot: HTMLElement, private readonly gestures: () => Gestures) {}

  readonly begin = (event: PointerEvent): void => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    if (this.#down.size === 0) {
      this.#isDrag = false;
      this.#from = { x: event.clientX, y: event.clientY };
    }
    this.#down.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };

  readonly move = (event: PointerEvent): void => {
    const before = this.#down.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...this.#down].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      this.#pinch(before, now, other);
    } else if (!this.#isDrag) {
      if (Math.abs(now.x - this.#from.x) < DRAG_BEGINS) return;
      this.#isDrag = true;
      this.plot.setPointerCapture(event.pointerId);
    } else {
      this.gestures().panBy(now.x - before.x);
    }
    this.#down.set(event.pointerId, now);
  };

  readonly end = (event: PointerEvent): void => {
    this.#down.delete(event.pointerId);
  };

  /** The click at the end of a drag selects nothing. */
  readonly click = (event: MouseEvent): void => {
    if (!this.#isDrag) return;
    event.stopPropagation();
    this.#isDrag = false;
  };

  #pinch(before: Finger, now: Finger, other: Finger): void {
    this.#isDrag = true;
    const was = Math.max(12, Math.abs(before.x - other.x));
    const is = Math.max(12, Math.abs(now.x - other.x));
    const middle = (now.x + other.x) / 2 - this.plot.getBoundingClientRect().left;
    this.gestures().zoomAt(middle, was / is);
    this.gestures().panBy((now.x - before.x) / 2);
  }
}

export function useGestures(plot: RefObject<HTMLElement>, axis: RefObject<HTMLElement>, gestures: Gestures): void {
  const latest = useRef(gestures);
  latest.current = gestures;
  useEffect(() => {
    const element = plot.current;
    const scale = axis.current;
    if (element === null || scale === null) return;
    const fingers = new Fingers(element, () => latest.current);
    const wheel = (event: WheelEvent) => {
      const zooms = event.ctrlKey || event.metaKey || (event.currentTarget === scale && Math.abs(event.deltaY) >= Math.abs(event.deltaX));
      const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (zooms) latest.current.zoomAt(event.clientX - element.getBoundingClientRect().left, wheelFactor(event.deltaY, event.deltaMode));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) latest.current.panBy(-sideways);
      else return;
      event.preventDefault();
    };
    const both = [element, scale];
    for (const target of both) {
      target.addEventListener("wheel", wheel, { passive: false });
      target.addEventListener("pointerdown", fingers.begin);
      target.addEventListener("pointermove", fingers.move);
      target.addEventListener("pointerup", fingers.end);
      target.addEventListener("pointercancel", fingers.end);
      target.addEventListener("click", fingers.click, true);
    }
    return () => {
      for (const target of both) {
        target.removeEventListener("wheel", wheel);
        target.removeEventListener("pointerdown", fingers.begin);
        target.removeEventListener("pointermove", fingers.move);
        target.removeEventListener("pointerup", fingers.end);
        target.removeEventListener("pointercancel", fingers.end);
        target.removeEventListener("click", fingers.click, true);
      }
    };
  }, [plot, axis]);
}
