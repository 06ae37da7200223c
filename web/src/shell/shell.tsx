// SPDX-License-Identifier: Apache-2.0
import type { RefObject } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { ApiProblem } from "../api/problem";
import type { Deadlock, Health } from "../api/types";
import { AuditPage } from "../pages/audit";
import { ContentionPage } from "../pages/contention";
import { DeadlocksPage } from "../pages/deadlocks";
import { LockPage } from "../pages/lock";
import { LocksPage } from "../pages/locks";
import { OverviewPage } from "../pages/overview";
import { RateLimitsPage } from "../pages/rate_limits";
import { TryItPage } from "../pages/try_it";
import { Toast } from "../parts/toast";
import { hrefOf, type Page, type Route } from "../router";
import { useApp, useLive } from "../state/context";
import { useFetched } from "../state/fetched";
import type { Tries } from "../state/tries";
import { visible } from "../text/names";
import { Header } from "./header";
import { Help } from "./help";
import { Nav } from "./nav";
import { PAGES } from "./pages";
import { searchField, useKeys } from "./use_keys";
import "../style/shell.css";

interface Shown {
  route: Route;
  tries: Tries;
  deadlocks: readonly Deadlock[];
  health: Health | null;
  healthProblem: ApiProblem | null;
}

function PageOf({ route, tries, deadlocks, health, healthProblem }: Shown) {
  switch (route.page) {
    case "overview":
      return <OverviewPage deadlocks={deadlocks} health={health} healthProblem={healthProblem} />;
    case "locks":
      return <LocksPage />;
    case "lock":
      return <LockPage key={route.name} name={route.name} />;
    case "contention":
      return <ContentionPage />;
    case "deadlocks":
      return <DeadlocksPage />;
    case "rate_limits":
      return <RateLimitsPage />;
    case "audit":
      return <AuditPage />;
    case "try_it":
      return <TryItPage tries={tries} />;
  }
}

function titleOf(route: Route): string {
  const title = route.page === "lock" ? visible(route.name) : PAGES.find(({ page }) => page === route.page)?.title;
  return `${title ?? ""} – Holdfast`;
}

/**
 * Whoever uses a screen reader hears of the new page; not of the first one, which has just been
 * opened. Answers with what `/` does: a page without a search leaves it to the locks.
 */
function usePageChange(route: Route, main: RefObject<HTMLElement>): () => void {
  const { navigate } = useApp();
  const first = useRef(true);
  const searchNext = useRef(false);
  const href = hrefOf(route);
  useEffect(() => {
    document.title = titleOf(route);
    const field = searchNext.current ? searchField() : null;
    if (!first.current) (field ?? main.current)?.focus();
    first.current = false;
    searchNext.current = false;
  }, [href]);
  return useCallback(() => {
    const field = searchField();
    searchNext.current = field === null;
    if (field === null) navigate({ page: "locks" });
    else field.focus();
  }, [navigate]);
}

const POLL_MS = 5000;
const AFTER_START_MS = 400;

interface Props {
  route: Route;
  tries: Tries;
  main: RefObject<HTMLElement>;
  onLogout: () => void;
}

export function Shell({ route, tries, main, onLogout }: Props) {
  const { api, session, navigate } = useApp();
  const { state } = useLive();
  const [help, setHelp] = useState(false);
  const health = useFetched((signal) => api.health(signal), [api], POLL_MS, AFTER_START_MS);
  const deadlocks = useFetched((signal) => api.deadlocks(signal), [api], POLL_MS, AFTER_START_MS);
  const found = deadlocks.data?.deadlocks ?? [];
  const go = useCallback((page: Page) => { navigate({ page }); }, [navigate]);
  const openHelp = useCallback(() => { setHelp(true); }, []);
  const search = usePageChange(route, main);
  useKeys({ go, search, help: openHelp });
  return (
    <div class={state === "live" ? "shell" : `shell ${state}`}>
      <a
        class="skip"
        href={hrefOf(route)}
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <Header session={session} health={health.data} problem={health.problem} onLogout={onLogout} />
      <Nav route={route} deadlocks={found.length} onHelp={openHelp} />
      <main ref={main} class="main" tabIndex={-1}>
        <PageOf route={route} tries={tries} deadlocks={found} health={health.data} healthProblem={health.problem} />
      </main>
      <Help open={help} onClose={() => { setHelp(false); }} />
      <Toast />
    </div>
  );
}
