// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import type { Page } from "../router";
import { decideKey, isTyping, type KeyState } from "./keys";

interface Hooks {
  go: (page: Page) => void;
  help: () => void;
}

/** The field that `/` leads to; a page that has none leaves it to the locks. */
function searchField(): HTMLElement | null {
  return document.querySelector<HTMLElement>("[data-search]");
}

function focusSearch(go: (page: Page) => void): void {
  const field = searchField();
  if (field !== null) {
    field.focus();
    return;
  }
  go("locks");
  // The page is rendered after the next frame at the latest.
  requestAnimationFrame(() => requestAnimationFrame(() => searchField()?.focus()));
}

/** The keys that work everywhere but in fields and dialogs. */
export function useKeys({ go, help }: Hooks): void {
  const state = useRef<KeyState>({ since: null });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      const { state: next, deed } = decideKey(state.current, event.key, performance.now());
      state.current = next;
      if (deed === null) return;
      event.preventDefault();
      if (deed.do === "go") go(deed.page);
      else if (deed.do === "help") help();
      else focusSearch(go);
    };
    document.addEventListener("keydown", onKey);
    return () => { document.removeEventListener("keydown", onKey); };
  }, [go, help]);
}
