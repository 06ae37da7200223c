// SPDX-License-Identifier: Apache-2.0

export type Theme = "auto" | "light" | "dark";

const KEY = "holdfast.theme";

export function themeOf(text: string | null): Theme {
  return text === "light" || text === "dark" ? text : "auto";
}

export function nextTheme(theme: Theme): Theme {
  if (theme === "auto") return "light";
  return theme === "light" ? "dark" : "auto";
}

/** A browser may refuse its storage altogether. */
export function storageOf(open: () => Storage): Storage | null {
  try {
    return open();
  } catch {
    return null;
  }
}

export function readTheme(): Theme {
  return themeOf(storageOf(() => localStorage)?.getItem(KEY) ?? null);
}

/** Without an attribute the style sheet follows the system. */
export function showTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function keepTheme(theme: Theme): void {
  storageOf(() => localStorage)?.setItem(KEY, theme);
  showTheme(theme);
}
