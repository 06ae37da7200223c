// SPDX-License-Identifier: Apache-2.0
import type { Page } from "../router";

export const GO: Readonly<Record<string, Page>> = {
  o: "overview",
  l: "locks",
  c: "contention",
  d: "deadlocks",
  r: "rate_limits",
  a: "audit",
  t: "try_it",
};

/** How long after `g` the second key may come. */
export const SECOND_KEY_MS = 1500;

export type Deed = { do: "go"; page: Page } | { do: "search" } | { do: "help" };

export interface KeyState {
  /** When `g` was pressed; null: it was not. */
  since: number | null;
}

export interface Decision {
  state: KeyState;
  deed: Deed | null;
}

/** What a key means, after what came before it. */
export function decideKey(state: KeyState, key: string, now: number): Decision {
  const idle: KeyState = { since: null };
  if (state.since !== null && now - state.since <= SECOND_KEY_MS) {
    const page = GO[key];
    if (page !== undefined) return { state: idle, deed: { do: "go", page } };
  }
  if (key === "g") return { state: { since: now }, deed: null };
  if (key === "/") return { state: idle, deed: { do: "search" } };
  if (key === "?") return { state: idle, deed: { do: "help" } };
  return { state: idle, deed: null };
}

/** Keys that go into a field are text. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
