// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync(new URL("../src/style/tokens.css", import.meta.url), "utf8");

/** The colours of one block of the style sheet, by their names. */
function colours(selector: string): Map<string, string> {
  const block = css.slice(css.indexOf(selector)).split("}")[0] ?? "";
  return new Map(Array.from(block.matchAll(/--([a-z0-9-]+): (#[0-9a-f]{6});/g), (found) => [found[1] ?? "", found[2] ?? ""]));
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** As WCAG 2 has it: from 1 to 21. */
function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const THEMES = [
  ["light", ":root {"],
  ["dark", '[data-theme="dark"]'],
] as const;
const TEXTS = ["text", "text-dim", "accent", "good", "warn", "bad", "hold", "wait", "claim"];

describe.each(THEMES)("the %s theme", (_, selector) => {
  const theme = colours(selector);

  test.each(TEXTS)("--%s can be read on every ground", (text) => {
    for (const ground of ["bg", "surface", "surface-2"]) {
      expect(contrast(theme.get(text) ?? "#000000", theme.get(ground) ?? "#000000"), `on --${ground}`).toBeGreaterThanOrEqual(4.5);
    }
  });

  test("the text of a button and of a count can be read", () => {
    expect(contrast(theme.get("accent-text") ?? "", theme.get("accent") ?? "")).toBeGreaterThanOrEqual(4.5);
    expect(contrast(theme.get("surface") ?? "", theme.get("bad") ?? "")).toBeGreaterThanOrEqual(4.5);
  });

  test("the focus can be seen", () => {
    for (const ground of ["bg", "surface", "surface-2"]) expect(contrast(theme.get("focus") ?? "", theme.get(ground) ?? "")).toBeGreaterThanOrEqual(3);
  });
});

test("dark is the same whether it was chosen or is the system's", () => {
  expect(colours(":root:not(")).toEqual(colours('[data-theme="dark"]'));
  expect(colours(":root:not(").size).toBe(15);
});
