// SPDX-License-Identifier: Apache-2.0
//
// The present moves on. While the picture follows it, the drawing is shifted from frame to frame
// and made anew only now and then; while nobody can see it, nothing happens at all.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { MARGIN } from "./geometry";

interface Pace {
  /** Pixels for each millisecond. */
  speed: number;
  follows: boolean;
  paused: boolean;
  clock: () => number;
  shift: (pixels: number) => void;
}

/** Slower than this, steps cannot be told from a smooth motion. */
const SMOOTH_FROM = 0.008;
const LEAST_STEP_MS = 100;
const MOST_STEP_MS = 1000;

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

/**
 * Tells the present again and again, for which the picture is then drawn anew. In between, `shift`
 * moves what was drawn for `now` to the left by so many pixels.
 */
export function usePresent(now: number, setNow: (now: number) => void, frame: RefObject<HTMLElement>, pace: Pace): void {
  const drawn = useRef(now);
  const latest = useRef(pace);
  latest.current = pace;
  const isSeen = useSeen(frame);
  const { speed, follows, paused } = pace;

  useLayoutEffect(() => {
    drawn.current = now;
    latest.current.shift(0);
  });

  useEffect(() => {
    if (paused || !isSeen) return;
    setNow(latest.current.clock());
    const isSmooth = follows && speed >= SMOOTH_FROM && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!isSmooth) {
      const timer = setInterval(() => { setNow(latest.current.clock()); }, stepFor(speed));
      return () => { clearInterval(timer); };
    }
    let frameId = 0;
    const turn = () => {
      const time = latest.current.clock();
      const pixels = (time - drawn.current) * speed;
      if (pixels >= MARGIN / 2 || time - drawn.current >= MOST_STEP_MS) setNow(time);
      else latest.current.shift(pixels);
      frameId = requestAnimationFrame(turn);
    };
    frameId = requestAnimationFrame(turn);
    return () => { cancelAnimationFrame(frameId); };
  }, [speed, follows, paused, isSeen]);
}
