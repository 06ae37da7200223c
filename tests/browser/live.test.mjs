// SPDX-License-Identifier: Apache-2.0
//
// What changes shows by itself, and what is out of date looks so.
import assert from "node:assert/strict";
import test from "node:test";
import { openDashboard, openPage, rowOf, startBrowser } from "./support/browser.mjs";
import { eventually, run, startRedis, startServer, temporaryFolder } from "./support/server.mjs";
import { atMost } from "./support/timing.mjs";

/** How long a change takes from the answer to whoever made it until the page has it. */
async function seenAfter(change, seen) {
  const [lease] = await Promise.all([change()]);
  const begin = Date.now();
  await seen();
  return { lease, ms: Date.now() - begin };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

test("a change through the server shows within a second", async (t) => {
  const server = await startServer(t);
  const page = await openPage(t, await startBrowser(t));
  await openDashboard(page, server, "locks");
  const times = { came: [], went: [] };
  for (let i = 0; i < 5; ++i) {
    const came = await seenAfter(
      () => server.client.acquire(`fresh:${i}`, { ttl: "5m" }),
      () => rowOf(page, `fresh:${i}`).waitFor(),
    );
    times.came.push(came.ms);
    const went = await seenAfter(
      () => server.client.release(came.lease),
      () => rowOf(page, `fresh:${i}`).waitFor({ state: "detached" }),
    );
    times.went.push(went.ms);
  }
  for (const [what, all] of Object.entries(times)) {
    assert.ok(median(all) < atMost(1000), `${what} after ${all} ms`);
  }
});

test("so does what another process does to the same Redis", async (t) => {
  const store = await startRedis(t);
  const server = await startServer(t, { store });
  const page = await openPage(t, await startBrowser(t));
  await openDashboard(page, server, "locks");
  // The first look at the store is compared with the next one.
  await eventually("the server has looked", async () => {
    const { json } = await server.client.call("GET", "/v1/stats");
    return json.held_locks !== null;
  });
  const times = [];
  for (let i = 0; i < 3; ++i) {
    const came = await seenAfter(
      () => run("acquire", `elsewhere-${i}`, "--ttl", "5m", "--store", store),
      () => rowOf(page, `elsewhere-${i}`).waitFor(),
    );
    times.push(came.ms);
  }
  assert.ok(median(times) < atMost(1000), `after ${times} ms`);
});

test("a queue grows and shrinks before one's eyes", async (t) => {
  const server = await startServer(t);
  const held = await server.client.acquire("busy", { ttl: "5m", metadata: { host: "first", pid: 1 } });
  const page = await openPage(t, await startBrowser(t));
  await openDashboard(page, server, "locks/busy");
  const next = server.client.acquire("busy", { ttl: "5m", wait: "5m", metadata: { host: "second", pid: 2 } });
  await page.getByText(/1 waiting/).waitFor();
  await page.getByText("second:2").first().waitFor();
  await server.client.release(held);
  await next;
  await eventually("the next one holds it", async () => {
    const text = await page.locator("main").innerText();
    return /held/.test(text) && !/1 waiting/.test(text) && !/first:1\s+loses/.test(text);
  });
});

test("a server that is away is said to be, and its return needs nobody's help", async (t) => {
  const store = `file:${temporaryFolder(t)}`;
  const server = await startServer(t, { store });
  await server.client.acquire("before", { ttl: "5m" });
  const page = await openPage(t, await startBrowser(t), { allowed: /ERR_|Failed to (fetch|load)|503/ });
  await openDashboard(page, server, "locks");
  await rowOf(page, "before").waitFor();
  await server.stop("SIGKILL");
  await page.getByText(/last update|connecting|stale/i).first().waitFor();
  assert.equal(await page.getByText("Live", { exact: true }).count(), 0);
  await rowOf(page, "before").waitFor();
  await server.start(Number(server.address.split(":")[1]));
  await server.client.acquire("after", { ttl: "5m" });
  await page.getByText("Live", { exact: true }).waitFor();
  await rowOf(page, "after").waitFor();
  await rowOf(page, "before").waitFor();
});

test("what is taken on the page is there, and another tab waits behind it", async (t) => {
  const server = await startServer(t);
  const browser = await startBrowser(t);
  const one = await openPage(t, browser);
  const other = await openPage(t, browser);
  for (const page of [one, other]) {
    await openDashboard(page, server, "try-it");
    await page.getByLabel("Name", { exact: true }).fill("tried");
    await page.getByLabel("Wait at most").fill("5m");
  }
  await one.getByRole("button", { name: "Acquire", exact: true }).click();
  await one.getByText("held", { exact: true }).waitFor();
  await other.getByRole("button", { name: "Acquire", exact: true }).click();
  await other.getByText("waiting", { exact: true }).waitFor();
  await other.getByText(/number 1 of 1 in line/).waitFor();
  const snippet = await one.locator("main").innerText();
  assert.match(snippet, /curl .*v1\/locks\/tried\/acquire/);
  await one.getByRole("button", { name: "Release", exact: true }).click();
  await other.getByText("held", { exact: true }).waitFor();
  const lock = await server.client.call("GET", "/v1/locks/tried");
  assert.equal(lock.json.holders.length, 1);
});
