// SPDX-License-Identifier: Apache-2.0
//
// Names, notes and hosts come from strangers.
import assert from "node:assert/strict";
import test from "node:test";
import { openDashboard, openPage, pages, phone, startBrowser } from "./support/browser.mjs";
import { eventually, startServer } from "./support/server.mjs";

const markup = `<img src=x onerror="globalThis.broken=1"><script>globalThis.broken=2</script>`;
const names = [
  markup,
  "invoice\u202egnp.exe",
  "a\u2066b\u2069\u200f\u061c",
  `${"long ".repeat(102)}xx`, // 512 bytes
  "%2e%2e/..%2f#/audit?x=1&y=%00",
  "javascript:globalThis.broken=3",
  "=HYPERLINK(1+1)",
  "quote'\"`${globalThis.broken=4}`\\",
];

async function fill(client) {
  for (const name of names) {
    await client.acquire(name, { ttl: "5m", metadata: { host: markup, pid: 1, program: markup, note: markup, source: markup } });
    await client.call("POST", `/v1/locks/${encodeURIComponent(name)}/acquire`, {
      wait: "20ms",
      metadata: { host: "\u202ewaiter", note: markup },
    });
    const scope = encodeURIComponent(name.slice(0, 100));
    await client.call("POST", `/v1/rate-limits/${scope}/check`, { rate: "1/h" });
  }
}

const isWhole = (page) =>
  page.evaluate(() => globalThis.broken === undefined && document.querySelectorAll("main img, main script, main iframe").length === 0);

for (const viewport of [undefined, phone]) {
  test(`hostile names do no harm${viewport === undefined ? "" : " on a phone"}`, async (t) => {
    const server = await startServer(t);
    await fill(server.client);
    const page = await openPage(t, await startBrowser(t), viewport === undefined ? {} : { viewport });
    page.on("dialog", () => assert.fail("a script ran"));
    for (const { path } of pages) {
      await openDashboard(page, server, path);
      await page.waitForTimeout(300);
      assert.ok(await isWhole(page), path);
    }
    for (const name of names) {
      await openDashboard(page, server, `locks/${encodeURIComponent(name)}`);
      await page.getByRole("heading", { name: "Timeline" }).waitFor();
      await eventually(`the page of ${JSON.stringify(name.slice(0, 20))} has its holder`, async () =>
        (await page.locator("main").innerText()).includes("onerror"),
      );
      assert.ok(await isWhole(page), name);
      const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(width <= 0, `${name.slice(0, 20)} is ${width} pixels too wide`);
    }
  });
}

test("marks that turn the text round are shown, not obeyed", async (t) => {
  const server = await startServer(t);
  await server.client.acquire("invoice\u202egnp.exe", { ttl: "5m" });
  const page = await openPage(t, await startBrowser(t));
  await openDashboard(page, server, "locks");
  await page.getByText("invoice\\u202egnp.exe").waitFor();
  assert.ok(!(await page.locator("main").innerText()).includes("\u202e"));
});

test("an exported cell is no formula", async (t) => {
  const server = await startServer(t);
  await server.client.acquire("=HYPERLINK(1+1)", { ttl: "5m" });
  const page = await openPage(t, await startBrowser(t));
  await openDashboard(page, server, "audit");
  await page.getByText("=HYPERLINK").first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /CSV/ }).click()]);
  let text = "";
  for await (const piece of await download.createReadStream()) text += piece;
  assert.match(text, /,'=HYPERLINK/);
  assert.doesNotMatch(text, /,=HYPERLINK/);
});
