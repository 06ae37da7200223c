// SPDX-License-Identifier: Apache-2.0
import type { Page } from "../router";

export interface Entry {
  page: Page;
  title: string;
  /** Behind `g`. */
  key: string;
}

export const PAGES: readonly Entry[] = [
  { page: "overview", title: "Overview", key: "o" },
  { page: "locks", title: "Locks", key: "l" },
  { page: "contention", title: "Contention", key: "c" },
  { page: "deadlocks", title: "Deadlocks", key: "d" },
  { page: "rate_limits", title: "Rate limits", key: "r" },
  { page: "audit", title: "Audit", key: "a" },
  { page: "try_it", title: "Try it", key: "t" },
];
