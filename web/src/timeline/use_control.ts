// SPDX-License-Identifier: Apache-2.0
//
// Which time is in view, and who decides: until somebody zooms or drags, all there is; while the
// picture follows, the present.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { fit, firstView, follow, pan, readableSpan, spanFor, spanOf, toTime, zoom, type View } from "./scale";
import type { Picture, Span } from "./span";
import { usePresent } from "./use_present";

export interface Control {
  view: View;
  now: number;
  follows: boolean;
  /** What is in view at this very moment, although it was drawn for a moment ago. */
  viewNow: () => View;
  /** About `x` in pixels, or about the middle. */
  zoomAt: (x: number | null, factor: number) => void;
  panBy: (pixels: number) => void;
  fitAll: () => void;
  followNow: () => void;
  /** Moves just so far that the span is in view. */
  show: (span: Span) => void;
}

interface State {
  view: View;
  follows: boolean;
  /** Somebody has chosen how much to see. */
  isChosen: boolean;
  /** Until then no more than this. */
  most: number;
}

interface Props {
  picture: Picture;
  width: number;
  paused: boolean;
  clock: () => number;
  frame: RefObject<HTMLElement>;
  moving: readonly RefObject<SVGSVGElement>[];
}

/** Shown of a lock to which nothing has happened yet. */
const NOTHING_MS = 60_000;

const isOpen = (picture: Picture): boolean => picture.lanes.some((lane) => lane.holds || lane.position !== null);

function lastOf(picture: Picture): number | null {
  const times = [...picture.lanes.map((lane) => lane.last), ...picture.marks.map((mark) => mark.at)];
  return times.length === 0 ? null : Math.max(...times);
}

function first(picture: Picture, width: number, now: number): State {
  const shown = firstView({ begin: picture.begin, end: picture.end }, lastOf(picture), isOpen(picture), now);
  return { ...shown, isChosen: false, most: readableSpan(picture.hand_overs.map((each) => each.begin), width) };
}

function viewAt(state: State, picture: Picture, now: number): View {
  if (!state.follows) return state.view;
  const all = lastOf(picture) === null ? NOTHING_MS : spanFor(now - picture.begin, state.most);
  const span = state.isChosen ? spanOf(state.view) : all;
  return follow({ begin: now - span, end: now }, now);
}

export function useControl({ picture, width, paused, clock, frame, moving }: Props): Control {
  const [state, setState] = useState<State>(() => first(picture, width, clock()));
  // What there is to see, and how wide, becomes known only when the picture stands on the page.
  const isReady = width > 0 && lastOf(picture) !== null;
  useEffect(() => {
    if (isReady) setState((before) => (before.isChosen ? before : first(picture, width, clock())));
  }, [isReady]);
  const [now, setNow] = useState(clock);
  const view = viewAt(state, picture, now);
  usePresent(now, setNow, frame, { speed: width / spanOf(view), follows: state.follows, paused, clock, moving });
  const told = { begin: picture.begin, end: Math.max(picture.end, now) };

  return {
    view,
    now,
    follows: state.follows,
    viewNow: () => (paused ? view : viewAt(state, picture, clock())),
    zoomAt(x, factor) {
      const anchor = state.follows ? now : toTime(view, width, x ?? width / 2);
      setState((before) => ({ ...before, view: zoom(viewAt(before, picture, now), anchor, factor, told), isChosen: true }));
    },
    panBy(pixels) {
      // By the clock: what is seen was shifted since it was drawn.
      const present = paused ? now : clock();
      setState((before) => {
        const from = viewAt(before, picture, present);
        return { ...before, view: pan(from, (-pixels / Math.max(1, width)) * spanOf(from), told), follows: false, isChosen: true };
      });
    },
    fitAll() {
      const end = isOpen(picture) ? now : (lastOf(picture) ?? now);
      setState((before) => ({ ...before, view: fit({ begin: picture.begin, end }), follows: false, isChosen: true }));
    },
    followNow() {
      setState((before) => ({ ...before, view, follows: !before.follows, isChosen: before.follows || before.isChosen }));
    },
    show(span) {
      const end = span.outcome === "open" ? now : span.end;
      if (span.begin < view.end && end > view.begin) return;
      const middle = (span.begin + end) / 2;
      setState((before) => ({ ...before, view: { begin: middle - spanOf(view) / 2, end: middle + spanOf(view) / 2 }, follows: false, isChosen: true }));
    },
  };
}
