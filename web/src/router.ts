// SPDX-License-Identifier: Apache-2.0

export type Page = "overview" | "locks" | "contention" | "deadlocks" | "rate_limits" | "audit" | "try_it";
export type Route = { page: Page } | { page: "lock"; name: string };

const PATHS: Record<Page, string> = {
  overview: "",
  locks: "locks",
  contention: "contention",
  deadlocks: "deadlocks",
  rate_limits: "rate-limits",
  audit: "audit",
  try_it: "try-it",
};

/** encodeURIComponent refuses half of a surrogate pair, which no name of the server's has. */
function encoded(name: string): string {
  return encodeURIComponent(name.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd"));
}

/** "#/locks/a%2Fb". */
export function hrefOf(route: Route): string {
  return route.page === "lock" ? `#/locks/${encoded(route.name)}` : `#/${PATHS[route.page]}`;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Whatever it cannot read is the overview. */
export function routeOf(hash: string): Route {
  const path = hash.replace(/^#?\/?/, "");
  if (path.startsWith("locks/")) {
    const name = decoded(path.slice("locks/".length));
    return name === null || name === "" ? { page: "locks" } : { page: "lock", name };
  }
  const found = (Object.keys(PATHS) as Page[]).find((page) => PATHS[page] === path);
  return { page: found ?? "overview" };
}
