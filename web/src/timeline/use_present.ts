// SPDX-License-Identifier: Apache-2.0
//
// The present moves on. While the picture follows it, what was drawn slides to the left, which costs
// the browser next to nothing, and is drawn anew only now and then; while nobody can see it, nothing
// happens at all.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { MARGIN } from "./geometry";

interface Pace {
  /** Pixels for each millisecond. */
  speed: number;
  follows: boolean;
  paused: boolean;
  clock: () => number;
  /** What slides. */
  moving: readonly RefObject<SVGSVGElement>[];
}

/** Slower than this, steps cannot be told from a smooth motion. */
const SMOOTH_FROM = 0.03;
const LEAST_STEP_MS = 100;
const MOST_STEP_MS = 1000;

/** How long what was drawn can slide until it has to be drawn anew. */
export function slideFor(speed: number): number {
  return Math.min(Math.max(MARGIN / 2 / speed, LEAST_STEP_MS), MOST_STEP_MS);
}

/** How long it takes until a step can be seen. */
export function stepFor(speed: number): number {
  return Math.min(Math.max(speed > 0 ? 0.5 / speed : MOST_STEP_MS, LEAST_STEP_MS), MOST_STEP_MS);
}

function useSeen(frame: RefObject<HTMLElement>): boolean {
  const [isSeen, setSeen] = useState(true);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    let isNear = true;
    const tell = () => { setSeen(isNear && !document.hidden); };
    const observer = new IntersectionObserver((entries) => {
      isNear = entries.at(-1)?.isIntersecting ?? true;
      tell();
    });
    observer.observe(element);
    document.addEventListener("visibilitychange", tell);
    return () => {
      observer.disconnect();
      document.removeEventListener("visibilitychange", tell);
    };
  }, [frame]);
  return isSeen;
}

function slide(element: SVGSVGElement, speed: number, since: number): Animation {
  const animation = element.animate([{ transform: "none" }, { transform: `translateX(${-MARGIN}px)` }], { duration: MARGIN / speed, fill: "forwards" });
  animation.currentTime = Math.max(0, since);
  return animation;
}

/** Tells the present again and again, for which the picture is then drawn anew; it slides in between. */
export function usePresent(now: number, setNow: (now: number) => void, frame: RefObject<HTMLElement>, pace: Pace): void {
  const latest = useRef(pace);
  latest.current = pace;
  const isSeen = useSeen(frame);
  const { speed, follows, paused } = pace;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const isSmooth = follows && !paused && isSeen && speed >= SMOOTH_FROM && !isCalm;

  useLayoutEffect(() => {
    if (!isSmooth) return;
    const { moving, clock } = latest.current;
    const slides = moving.map(({ current }) => (current === null ? null : slide(current, speed, clock() - now)));
    return () => { for (const each of slides) each?.cancel(); };
  }, [now, isSmooth, speed]);

  useEffect(() => {
    if (!isSeen) return;
    setNow(latest.current.clock());
    if (paused) return;
    const step = isCalm ? MOST_STEP_MS : isSmooth ? slideFor(speed) : stepFor(speed);
    const timer = setInterval(() => { setNow(latest.current.clock()); }, step);
    return () => { clearInterval(timer); };
  }, [speed, isSmooth, isCalm, paused, isSeen]);
}
