// SPDX-License-Identifier: Apache-2.0
//
// All that the page of one lock shows: the lock itself, asked for again and again, and its events,
// asked for once and heard of from then on.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiProblem } from "../api/problem";
import type { Lock, LockEvent, Timeline } from "../api/types";
import { useApp, useLive } from "../state/context";
import { useFetched, type Fetched } from "../state/fetched";
import { mergeEvents, skewOfEvents, skewOfLock } from "../timeline/merge";

/** A lock, or null where nobody holds it or waits for it, and when that was so. */
export interface Look {
  lock: Lock | null;
  /** Milliseconds since 1970, by this browser's clock. */
  readAt: number;
  /** performance.now(). */
  readNow: number;
}

const LOOK_EVERY_MS = 2000;
/** Events may come by the hundred; a look at the lock is not needed after each. */
const LOOK_AT_MOST_MS = 500;
/** For the histograms, and for what the stream may have missed. */
const TIMELINE_EVERY_MS = 30_000;
const SKEW_STEP_MS = 200;

async function lookAt(asking: Promise<Lock>): Promise<Lock | null> {
  try {
    return await asking;
  } catch (thrown) {
    if (thrown instanceof ApiProblem && thrown.status === 404) return null;
    throw thrown;
  }
}

export function useLook(name: string): Fetched<Look> {
  const { api, live } = useApp();
  const look = useFetched<Look>(async (signal) => {
    const [asked, askedNow] = [Date.now(), performance.now()];
    const lock = await lookAt(api.lock(name, signal));
    // The server looked somewhere between the question and the answer.
    return { lock, readAt: (asked + Date.now()) / 2, readNow: (askedNow + performance.now()) / 2 };
  }, [api, name], LOOK_EVERY_MS);
  const latest = useRef(look);
  latest.current = look;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (latest.current.loading) {
          soon();
          return;
        }
        last = performance.now();
        latest.current.reload();
      }, Math.max(50, last + LOOK_AT_MOST_MS - performance.now()));
    };
    const stop = live.listen((events) => {
      if (!document.hidden && events.some((event) => event.name === name || event.type === "store_changed")) soon();
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [live, name]);
  return look;
}

export interface History {
  events: readonly LockEvent[];
  /** Whether `events` has what happened before this page was opened. */
  isLoaded: boolean;
  timeline: Fetched<Timeline>;
  /** What to add to our clock to get the server's. */
  skew: number;
}

export function useHistory(name: string, look: Look | null): History {
  const { api, live } = useApp();
  const { state } = useLive();
  const isHeard = name.startsWith(live.prefix);
  const timeline = useFetched((signal) => api.timeline(name, signal), [api, name], isHeard ? TIMELINE_EVERY_MS : LOOK_EVERY_MS);
  const [{ events, isLoaded }, setEvents] = useState<Pick<History, "events" | "isLoaded">>({ events: [], isLoaded: false });
  const [skew, setSkew] = useState(0);
  const learn = (sample: number | null): void => {
    if (sample !== null) setSkew((before) => (Math.abs(sample - before) >= SKEW_STEP_MS ? sample : before));
  };

  useEffect(() => live.listen((batch) => {
    const ours = batch.filter((event) => event.name === name);
    if (ours.length === 0) return;
    setEvents((kept) => ({ ...kept, events: mergeEvents(kept.events, ours) }));
    // A lock with holders tells the time better.
    if (look?.lock?.holders[0] === undefined) learn(skewOfEvents(ours, Date.now()));
  }), [live, name, look === null || look.lock === null]);

  useEffect(() => {
    const past = timeline.data?.events;
    if (past !== undefined) setEvents((kept) => ({ events: mergeEvents(kept.events, past), isLoaded: true }));
  }, [timeline.data]);
  useEffect(() => { learn(skewOfLock(look?.lock ?? null, look?.readAt ?? 0)); }, [look]);

  // While the stream was down, events may have passed by.
  const before = useRef(state);
  useEffect(() => {
    if (state === "live" && before.current !== "live") timeline.reload();
    before.current = state;
  }, [state]);
  return { events, isLoaded, timeline, skew };
}
