// SPDX-License-Identifier: Apache-2.0
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api/client";
import type { Route } from "../router";
import type { Board } from "./board";
import type { Live, LiveStatus } from "./live";
import type { SessionState } from "./session";

export interface App {
  api: Api;
  session: SessionState;
  board: Board;
  live: Live;
  navigate: (route: Route) => void;
}

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === null) throw new Error("useApp outside of the app");
  return app;
}

const OFTEN_MS = 250;
const SELDOM_MS = 500;
const MANY_ROWS = 5000;
const STATUS_MS = 1000;
const PART_MS = 400;

/**
 * The version of the board that is to be shown; what uses it renders again when the board changed,
 * at most four times a second, and less often where there are many rows to sort. The first whole
 * listing is shown at once, a part of it only if the rest takes its time: drawing it would hold up
 * what is still to come.
 */
export function useBoardVersion(): number {
  const { board, live } = useApp();
  const [version, setVersion] = useState(board.version);
  const shown = useRef({ version: board.version, at: 0, complete: board.complete });
  const opened = useRef(performance.now());
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const dueAt = (isWhole: boolean) => {
      if (isWhole) return 0;
      if (!board.complete && shown.current.at === 0) return opened.current + PART_MS;
      return shown.current.at + (board.rows.size > MANY_ROWS ? SELDOM_MS : OFTEN_MS);
    };
    const show = () => {
      timer = undefined;
      if (document.hidden || shown.current.version === board.version) return;
      shown.current = { version: board.version, at: performance.now(), complete: board.complete };
      setVersion(board.version);
    };
    const changed = () => {
      const isWhole = board.complete && !shown.current.complete;
      if (isWhole) {
        clearTimeout(timer);
        timer = undefined;
      }
      timer ??= setTimeout(show, Math.max(0, dueAt(isWhole) - performance.now()));
    };
    changed();
    document.addEventListener("visibilitychange", changed);
    const stop = live.subscribe(changed);
    return () => {
      stop();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", changed);
    };
  }, [board, live]);
  return version;
}

export function useBoard(): Board {
  useBoardVersion();
  return useApp().board;
}

/** Whether a reader would want to know at once; counts and times may wait. */
function isNews(before: LiveStatus, now: LiveStatus): boolean {
  return before.state !== now.state || before.problem !== now.problem || before.listing !== now.listing || before.listProblem !== now.listProblem;
}

/** How the stream is doing. What uses it renders again when that changes, and once a second. */
export function useLive(): LiveStatus {
  const { live } = useApp();
  const [status, setStatus] = useState(live.status);
  const shown = useRef({ status, at: performance.now() });
  useEffect(() => live.subscribe(() => {
    if (document.hidden) return;
    const now = live.status;
    const at = performance.now();
    if (!isNews(shown.current.status, now) && at - shown.current.at < STATUS_MS) return;
    shown.current = { status: now, at };
    setStatus(now);
  }), [live]);
  return status;
}

/** performance.now(), ticking while the page is visible. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) setNow(performance.now()); }, everyMs);
    return () => { clearInterval(timer); };
  }, [everyMs]);
  return now;
}
