// SPDX-License-Identifier: Apache-2.0
//
// Every page, on the embedded store and on Redis.
import assert from "node:assert/strict";
import test from "node:test";
import { openDashboard, openPage, pages, phone, rowOf, startBrowser } from "./support/browser.mjs";
import { eventually, startRedis, startServer } from "./support/server.mjs";

/** Two who hold and wait for what the other has. */
async function deadlock(client) {
  await client.acquire("circle:a", { ttl: "5m", owner: "A", metadata: { host: "web-1", pid: 11 } });
  await client.acquire("circle:b", { ttl: "5m", owner: "B", metadata: { host: "web-2", pid: 22 } });
  const waits = [
    client.acquire("circle:b", { ttl: "5m", wait: "5m", owner: "A", metadata: { host: "web-1", pid: 11 } }),
    client.acquire("circle:a", { ttl: "5m", wait: "5m", owner: "B", metadata: { host: "web-2", pid: 22 } }),
  ];
  for (const wait of waits) wait.catch(() => {});
}

async function fill(client) {
  await client.acquire("orders:42", { ttl: "5m", metadata: { host: "web-1", pid: 4711, program: "report", note: "nightly" } });
  await client.acquire("config", { ttl: "5m", kind: "read_write", mode: "read" });
  await client.acquire("licences", { ttl: "5m", kind: "semaphore", capacity: 5, permits: 2 });
  await client.acquire("leader", { ttl: "5m", kind: "election", metadata: { value: "http://web-2:8080" } });
  await client.call("POST", "/v1/locks/orders:42/acquire", { wait: "200ms" });
  await client.call("POST", "/v1/rate-limits/mail-api/check", { rate: "2/h" });
  await deadlock(client);
}

const stores = [
  { name: "memory:", open: async () => "memory:" },
  { name: "redis:", open: startRedis },
];

for (const { name, open } of stores) {
  test(`each page shows what it is for, on ${name}`, async (t) => {
    const server = await startServer(t, { store: await open(t) });
    await fill(server.client);
    const browser = await startBrowser(t);
    const page = await openPage(t, browser);
    await openDashboard(page, server);

    await t.test("the overview counts what is held and who waits", async () => {
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      const tile = page.locator("section, article, div").filter({ hasText: /^Held locks/ }).first();
      await eventually("six locks are counted", async () => /\b6\b/.test(await tile.innerText()));
    });

    await t.test("locks have holders, fences and what is left", async () => {
      await page.getByRole("link", { name: "Locks", exact: true }).click();
      const row = rowOf(page, "orders:42");
      await row.waitFor();
      const text = await row.innerText();
      for (const part of ["mutex", "web-1", "4711", "nightly"]) assert.match(text, new RegExp(part));
      assert.match(text, /\d{16}/, "a fence");
      assert.match(text, /[1-5]m/, "what is left of five minutes");
      await rowOf(page, "config").waitFor();
    });

    await t.test("locks are found by their prefix and ordered as one likes", async () => {
      await page.getByLabel("Name begins with").fill("circle:");
      await eventually("two of them are left", async () => (await rowOf(page, "circle:").count()) === 2);
      assert.equal(await rowOf(page, "orders:42").count(), 0);
      await page.getByLabel("Name begins with").fill("");
      await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
      await eventually("they are ordered by name", async () => {
        const rows = await page.getByRole("row").allInnerTexts();
        return rows[1]?.startsWith("circle:a") && rows[2]?.startsWith("circle:b");
      });
    });

    await t.test("a lock's page has its holder, its timeline and its histograms", async () => {
      await rowOf(page, "orders:42").click();
      await page.getByRole("heading", { name: /orders:42/ }).waitFor();
      await page.getByText("web-1:4711").first().waitFor();
      await page.getByRole("heading", { name: "Timeline" }).waitFor();
      const waits = page.getByRole("figure").filter({ hasText: /wait/i }).first();
      await eventually("the wait that timed out is counted", async () => /count\s+1\b/.test(await waits.innerText()));
    });

    await t.test("contention names who was waited for", async () => {
      await page.getByRole("link", { name: "Contention", exact: true }).click();
      await eventually("orders:42 is there", async () => /orders:42/.test(await page.locator("main").innerText()));
    });

    await t.test("deadlocks are drawn, with how to break them", async () => {
      await page.getByRole("link", { name: /Deadlocks/ }).click();
      await page.getByText("How to break it").waitFor();
      const text = await page.locator("main").innerText();
      for (const part of ["web-1:11", "web-2:22", "circle:a", "circle:b", "shortest wait"]) assert.ok(text.includes(part), part);
    });

    await t.test("rate limits have what is left of them", async () => {
      await page.getByRole("link", { name: "Rate limits", exact: true }).click();
      await eventually("mail-api is there", async () => /mail-api[\s\S]*2\/h/.test(await page.locator("main").innerText()));
    });

    await t.test("the audit trail is there, and can be exported", async () => {
      await page.getByRole("link", { name: "Audit", exact: true }).click();
      await eventually("entries are there", async () => /orders:42/.test(await page.locator("main").innerText()));
      const [csv] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /CSV/ }).click()]);
      const text = await text_of(csv);
      assert.match(text, /^seq,at,what,name/);
      assert.match(text, /acquired,orders:42/);
      const [json] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /JSON/ }).click()]);
      assert.ok(JSON.parse(await text_of(json)).some((entry) => entry.name === "orders:42"));
    });
  });
}

async function text_of(download) {
  let text = "";
  for await (const piece of await download.createReadStream()) text += piece;
  return text;
}

test("times are those of whoever looks, with UTC on hover", async (t) => {
  const server = await startServer(t);
  await server.client.acquire("a", { ttl: "5m" });
  const page = await openPage(t, await startBrowser(t));
  await openDashboard(page, server, "locks/a");
  const time = page.locator("time").first();
  await time.waitFor();
  const at = new Date(await time.getAttribute("datetime"));
  const local = at.toLocaleTimeString("en-GB", { timeZone: "Europe/Berlin" });
  assert.ok((await time.innerText()).includes(local), `${await time.innerText()} has ${local}`);
  assert.match(await time.getAttribute("title"), /UTC|Z/);
});

test("nothing is wider than a phone", async (t) => {
  const server = await startServer(t);
  await fill(server.client);
  const page = await openPage(t, await startBrowser(t), { viewport: phone });
  for (const path of [...pages.map((each) => each.path), "locks/orders%3A42", `locks/${"W".repeat(512)}`]) {
    await openDashboard(page, server, path);
    await page.waitForTimeout(300);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= phone.width, `${path}: ${width} pixels`);
  }
});

test("everything can be reached by keys", async (t) => {
  const server = await startServer(t);
  await server.client.acquire("only-one", { ttl: "5m" });
  const page = await openPage(t, await startBrowser(t));
  await openDashboard(page, server);
  for (const [keys, title] of [["gl", "Locks"], ["gc", "Contention"], ["gd", "Deadlocks"], ["gr", "Rate limits"], ["ga", "Audit"], ["gt", "Try it"], ["go", "Overview"]]) {
    for (const key of keys) await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  for (const key of "gl") await page.keyboard.press(key);
  await rowOf(page, "only-one").waitFor();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("type")), "search");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /only-one/ }).waitFor();
});
