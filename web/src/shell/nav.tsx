// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { hrefOf, type Route } from "../router";
import { PAGES } from "./pages";

interface Props {
  route: Route;
  deadlocks: number;
  onHelp: () => void;
}

/** A lock's page belongs to the locks. */
function current(route: Route): string {
  return route.page === "lock" ? "locks" : route.page;
}

export function Nav({ route, deadlocks, onHelp }: Props) {
  const nav = useRef<HTMLElement>(null);
  const page = current(route);
  // At phone width the bar scrolls, and the page one is on may be out of sight.
  useEffect(() => { nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); }, [page, deadlocks]);
  return (
    <nav ref={nav} class="nav" aria-label="Pages">
      <ul>
        {PAGES.map((entry) => (
          <li key={entry.page}>
            <a href={hrefOf({ page: entry.page })} aria-current={entry.page === page ? "page" : undefined}>
              {entry.title}
              {entry.page === "deadlocks" && deadlocks > 0 ? <span class="count">{deadlocks}</span> : null}
            </a>
          </li>
        ))}
      </ul>
      <button type="button" class="quiet help" onClick={onHelp}>
        <kbd>?</kbd> Keys
      </button>
    </nav>
  );
}
