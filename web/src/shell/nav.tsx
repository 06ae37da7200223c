// SPDX-License-Identifier: Apache-2.0
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
  return (
    <nav class="nav" aria-label="Pages">
      <ul>
        {PAGES.map(({ page, title }) => (
          <li key={page}>
            <a href={hrefOf({ page })} aria-current={current(route) === page ? "page" : undefined}>
              {title}
              {page === "deadlocks" && deadlocks > 0 ? <span class="count">{deadlocks}</span> : null}
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
