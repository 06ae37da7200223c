// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Api } from "./api/client";
import { ProblemNote } from "./parts/problem_note";
import { LoginPage } from "./pages/login";
import { hrefOf, routeOf, type Route } from "./router";
import { Shell } from "./shell/shell";
import type { Board } from "./state/board";
import { AppContext, type App } from "./state/context";
import type { Live } from "./state/live";
import type { Session, SessionState } from "./state/session";
import type { Tries } from "./state/tries";

export interface Pieces {
  session: Session;
  api: Api;
  board: Board;
  live: Live;
  tries: Tries;
}

const ASK_AGAIN_MS = 2000;

function useSession(session: Session): SessionState {
  const [state, setState] = useState(session.state);
  useEffect(() => {
    setState(session.state);
    return session.subscribe(() => { setState(session.state); });
  }, [session]);
  useEffect(() => {
    if (state.phase !== "asking" || state.problem === null) return;
    const timer = setTimeout(() => void session.retry(), ASK_AGAIN_MS);
    return () => { clearTimeout(timer); };
  }, [session, state]);
  return state;
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const changed = () => { setRoute(routeOf(location.hash)); };
    addEventListener("hashchange", changed);
    return () => { removeEventListener("hashchange", changed); };
  }, []);
  return route;
}

export function Root({ session, api, board, live, tries }: Pieces) {
  const state = useSession(session);
  const route = useRoute();
  const navigate = useCallback((to: Route) => { location.hash = hrefOf(to); }, []);
  const app = useMemo<App>(() => ({ api, session: state, board, live, navigate }), [api, state, board, live, navigate]);
  const main = useRef<HTMLElement>(null);
  if (state.phase === "out") return <LoginPage session={session} />;
  if (state.phase === "asking") {
    return <main class="opening">{state.problem === null ? <p class="dim" role="status">Connecting…</p> : <ProblemNote problem={state.problem} />}</main>;
  }
  const logout = () => {
    tries.releaseAll();
    session.logout();
  };
  return (
    <AppContext.Provider value={app}>
      <Shell route={route} tries={tries} main={main} onLogout={logout} />
    </AppContext.Provider>
  );
}
