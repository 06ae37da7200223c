// SPDX-License-Identifier: Apache-2.0
//
// Debian's Chromium. A page that complains, of its policy for example, fails its test.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { atEnd } from "./server.mjs";
import { atMost } from "./timing.mjs";

const words = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const pages = [
  { path: "", title: "Overview" },
  { path: "locks", title: "Locks" },
  { path: "contention", title: "Contention" },
  { path: "deadlocks", title: "Deadlocks" },
  { path: "rate-limits", title: "Rate limits" },
  { path: "audit", title: "Audit" },
  { path: "try-it", title: "Try it" },
];

export const desktop = { width: 1440, height: 900 };
export const phone = { width: 390, height: 844 };

export async function startBrowser(t, more = []) {
  const browser = await chromium.launch({
    executablePath: process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium",
    args: [...words, ...more],
  });
  atEnd(t, () => browser.close());
  return browser;
}

/** `allowed` says of which complaints a test knows: a page whose server is away complains too. */
export async function openPage(t, browser, { viewport = desktop, colorScheme = "light", allowed = null } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, timezoneId: "Europe/Berlin", locale: "en-GB" });
  const page = await context.newPage();
  page.setDefaultTimeout(atMost(30_000));
  const complaints = [];
  const complain = (text) => {
    if (allowed === null || !allowed.test(text)) complaints.push(text);
  };
  page.on("pageerror", (error) => complain(String(error)));
  page.on("console", (message) => {
    // That a lock is free is an answer, which Chromium writes down as an error.
    const isAnswer = /status of 40[49]/.test(message.text());
    if (message.type() === "error" && !isAnswer) complain(message.text());
  });
  atEnd(t, async () => {
    await context.close();
    assert.deepEqual(complaints, [], "the page complained");
  });
  return page;
}

/** The dashboard, as soon as it shows what it knows. */
export async function openDashboard(page, server, path = "") {
  await page.goto(`${server.url}#/${path}`);
  await page.getByText("Live", { exact: true }).waitFor();
}

/** In the table of locks. */
export function rowOf(page, name) {
  return page.getByRole("row").filter({ hasText: name });
}
