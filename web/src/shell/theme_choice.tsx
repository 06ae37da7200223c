// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { keepTheme, nextTheme, readTheme, type Theme } from "../state/theme";

const TITLES: Record<Theme, string> = { auto: "as the system has it", light: "light", dark: "dark" };

function Glyph({ theme }: { theme: Theme }) {
  if (theme === "dark") return <path d="M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6Z" fill="currentColor" />;
  return (
    <>
      <circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="1.5" />
      {theme === "auto" ? <path d="M8 3a5 5 0 0 1 0 10Z" fill="currentColor" /> : null}
    </>
  );
}

/** Turns from auto to light to dark and back. */
export function ThemeChoice() {
  const [theme, setTheme] = useState(readTheme);
  const text = `Theme: ${TITLES[theme]}`;
  return (
    <button
      type="button"
      class="theme"
      aria-label={text}
      title={text}
      onClick={() => {
        const next = nextTheme(theme);
        keepTheme(next);
        setTheme(next);
      }}
    >
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <Glyph theme={theme} />
      </svg>
    </button>
  );
}
