// SPDX-License-Identifier: Apache-2.0
//
// axe-core on every page, in both themes and on a phone: no serious findings.
import assert from "node:assert/strict";
import test from "node:test";
import axe from "axe-core";
import { desktop, openDashboard, openPage, pages, phone, startBrowser } from "./support/browser.mjs";
import { startServer, tokenFile } from "./support/server.mjs";

async function fill(client) {
  const held = await client.acquire("orders:42", { ttl: "5m", metadata: { host: "web-1", pid: 4711, note: "nightly" } });
  const next = client.acquire("orders:42", { ttl: "5m", wait: "5m", metadata: { host: "web-2", pid: 1 } });
  await client.call("POST", "/v1/rate-limits/mail-api/check", { rate: "2/h" });
  await client.acquire("circle:a", { ttl: "5m", owner: "A", metadata: { host: "web-1", pid: 11 } });
  await client.acquire("circle:b", { ttl: "5m", owner: "B", metadata: { host: "web-2", pid: 22 } });
  for (const [name, owner, host, pid] of [["circle:b", "A", "web-1", 11], ["circle:a", "B", "web-2", 22]]) {
    client.acquire(name, { wait: "5m", owner, metadata: { host, pid } }).catch(() => {});
  }
  await client.release(held);
  await next;
  client.acquire("orders:42", { wait: "5m", metadata: { host: "web-3", pid: 3 } }).catch(() => {});
}

async function findings(page) {
  await page.evaluate(axe.source);
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return result.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join(" | ")}`);
}

const views = [
  { name: "in light", options: { viewport: desktop, colorScheme: "light" } },
  { name: "in dark", options: { viewport: desktop, colorScheme: "dark" } },
  { name: "on a phone", options: { viewport: phone, colorScheme: "light" } },
];

for (const { name, options } of views) {
  test(`no page has a serious finding ${name}`, async (t) => {
    const server = await startServer(t);
    await fill(server.client);
    const page = await openPage(t, await startBrowser(t), options);
    for (const path of [...pages.map((each) => each.path), "locks/orders%3A42", "locks/nobody-uses-this"]) {
      await openDashboard(page, server, path);
      await page.waitForTimeout(1200);
      assert.deepEqual(await findings(page), [], `#/${path}`);
    }
    await openDashboard(page, server, "locks/orders%3A42");
    await page.getByRole("button", { name: /by force/ }).click();
    await page.getByRole("dialog").waitFor();
    assert.deepEqual(await findings(page), [], "the dialog");
  });
}

test("nor has the login", async (t) => {
  const server = await startServer(t, { words: ["--token-file", tokenFile(t, ["reader read *"])] });
  const page = await openPage(t, await startBrowser(t), { allowed: /status of 401/ });
  await page.goto(server.url);
  await page.getByLabel("Token").waitFor();
  assert.deepEqual(await findings(page), []);
});
