// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { problemOf, type ApiProblem } from "../api/problem";

export interface Fetched<T> {
  data: T | null;
  problem: ApiProblem | null;
  loading: boolean;
  reload: () => void;
}

/**
 * Loads something, again whenever `deps` change, and every `everyMs` while the page is visible. Old
 * data stay while new ones are loaded. A token that is refused logs out by itself, in the Api. What
 * can wait begins after `firstAfterMs`, so that it does not stand in the way of the page's start.
 */
export function useFetched<T>(load: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[], everyMs?: number, firstAfterMs = 0): Fetched<T> {
  const [state, setState] = useState<Omit<Fetched<T>, "reload">>({ data: null, problem: null, loading: true });
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => { setTurn((before) => before + 1); }, []);

  // What was loaded for other deps is not an answer to these.
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) setState({ data: null, problem: null, loading: true });
    isFirst.current = false;
  }, deps);

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let late = false;
    const again = () => {
      if (everyMs === undefined) return;
      timer = setTimeout(() => {
        late = document.hidden;
        if (!late) void run();
      }, everyMs);
    };
    const run = async () => {
      setState((before) => (before.loading ? before : { ...before, loading: true }));
      try {
        const data = await load(abort.signal);
        if (!abort.signal.aborted) setState({ data, problem: null, loading: false });
      } catch (thrown) {
        const problem = problemOf(thrown);
        if (!abort.signal.aborted) setState((before) => ({ data: before.data, problem, loading: false }));
      }
      if (!abort.signal.aborted) again();
    };
    const onVisible = () => {
      if (!late || document.hidden) return;
      late = false;
      void run();
    };
    document.addEventListener("visibilitychange", onVisible);
    if (firstAfterMs === 0 || turn > 0) void run();
    else timer = setTimeout(() => void run(), firstAfterMs);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [...deps, everyMs, firstAfterMs, turn]);

  return { ...state, reload };
}
