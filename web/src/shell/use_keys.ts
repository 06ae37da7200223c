// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import type { Page } from "../router";
import { decideKey, isTyping, type KeyState } from "./keys";

interface Hooks {
  go: (page: Page) => void;
  search: () => void;
  help: () => void;
}

/** The field that `/` leads to. */
export function searchField(): HTMLElement | null {
  return document.querySelector<HTMLElement>("[data-search]");
}

/** The keys that work everywhere but in fields and dialogs. */
export function useKeys({ go, search, help }: Hooks): void {
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
      else search();
    };
    document.addEventListener("keydown", onKey);
    return () => { document.removeEventListener("keydown", onKey); };
  }, [go, search, help]);
}
