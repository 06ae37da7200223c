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
const SELDOM_MS = 1000;
const MANY_ROWS = 5000;

/**
 * The board; renders again when it changed, at most four times a second, and less often where there
 * are many rows to sort.
 */
export function useBoard(): Board {
  const { board, live } = useApp();
  const [, setVersion] = useState(board.version);
  const shown = useRef({ version: board.version, at: 0 });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      if (document.hidden || shown.current.version === board.version) return;
      shown.current = { version: board.version, at: performance.now() };
      setVersion(board.version);
    };
    const changed = () => {
      const gap = board.rows.size > MANY_ROWS ? SELDOM_MS : OFTEN_MS;
      timer ??= setTimeout(show, Math.max(0, shown.current.at + gap - performance.now()));
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
  return board;
}

/** How the stream is doing. */
export function useLive(): LiveStatus {
  const { live } = useApp();
  const [status, setStatus] = useState(live.status);
  useEffect(() => live.subscribe(() => { if (!document.hidden) setStatus(live.status); }), [live]);
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
