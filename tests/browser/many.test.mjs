// SPDX-License-Identifier: Apache-2.0
//
// Five thousand locks: the page is there soon, and scrolling is smooth. The figures are those of
// bench/page; here a bar stands that no machine should miss.
import assert from "node:assert/strict";
import test from "node:test";
import { openDashboard, openPage, startBrowser } from "./support/browser.mjs";
import { fillWithLocks, scrollThrough } from "./support/load.mjs";
import { startServer } from "./support/server.mjs";
import { atMost } from "./support/timing.mjs";

const LOCKS = 5000;

test("five thousand locks scroll without a long task", async (t) => {
  const server = await startServer(t);
  await fillWithLocks(server, LOCKS);
  const page = await openPage(t, await startBrowser(t));
  await openDashboard(page, server, "locks");
  await page.getByText(/^5,?000 locks/).waitFor();
  const rows = await page.getByRole("row").count();
  assert.ok(rows < 100, `${rows} rows are in the page; only those in sight should be`);
  const { longest, seen } = await scrollThrough(page);
  assert.ok(seen > 200, `only ${seen} names came into sight`);
  assert.ok(longest <= atMost(100), `a task of ${longest} ms`);
});
