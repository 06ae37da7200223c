// SPDX-License-Identifier: Apache-2.0
//
// Who may see and do what.
import assert from "node:assert/strict";
import test from "node:test";
import { openDashboard, openPage, rowOf, startBrowser } from "./support/browser.mjs";
import { Client, eventually, startServer, tokenFile } from "./support/server.mjs";

async function guarded(t) {
  const file = tokenFile(t, ["reader read *", "narrow read orders:", "locker lock *", "ops admin *"]);
  const server = await startServer(t, { words: ["--token-file", file] });
  server.client = new Client(server.address, "secret-of-ops");
  return server;
}

async function logIn(page, server, name, path = "locks") {
  await page.goto(`${server.url}#/${path}`);
  await page.getByLabel("Token").fill(`secret-of-${name}`);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
}

const unauthorised = { allowed: /status of 40[13]/ };

test("without a token there is a login and nothing else", async (t) => {
  const server = await guarded(t);
  await server.client.acquire("orders:42", { ttl: "5m" });
  const page = await openPage(t, await startBrowser(t), unauthorised);
  await page.goto(`${server.url}#/locks`);
  await page.getByLabel("Token").waitFor();
  assert.ok(!(await page.locator("body").innerText()).includes("orders:42"));
  await page.getByLabel("Token").fill("hf_a-guess");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText(/does not know this token/).waitFor();
  await page.getByLabel("Token").fill("secret-of-reader");
  await page.getByRole("button", { name: "Log in" }).click();
  await rowOf(page, "orders:42").waitFor();
});

test("a token is in no URL, and in no storage unless one wants it kept in the tab", async (t) => {
  const server = await guarded(t);
  const page = await openPage(t, await startBrowser(t), unauthorised);
  const urls = [];
  page.on("request", (request) => urls.push(request.url()));
  await logIn(page, server, "reader");
  const stored = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!(await stored()).includes("secret-of"), "memory only");
  assert.ok(urls.every((url) => !url.includes("secret-of")));
  await page.reload();
  await page.getByLabel("Token").fill("secret-of-reader");
  await page.getByLabel(/Keep in this tab/).check();
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor();
  assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage }))).includes("secret-of"));
  await page.getByRole("button", { name: /log out/i }).click();
  await page.getByLabel("Token").waitFor();
  assert.ok(!(await stored()).includes("secret-of"), "forgotten with the log-out");
});

test("a reader is offered nothing that it may not do", async (t) => {
  const server = await guarded(t);
  await server.client.acquire("orders:42", { ttl: "5m" });
  const page = await openPage(t, await startBrowser(t), unauthorised);
  await logIn(page, server, "reader");
  await page.getByText("read-only").first().waitFor();
  await rowOf(page, "orders:42").click();
  await page.getByRole("heading", { name: /orders:42/ }).waitFor();
  const force = page.getByRole("button", { name: /by force/ });
  assert.ok((await force.count()) === 0 || (await force.first().isDisabled()), "no force release");
  await page.goto(`${server.url}#/audit`);
});

test("pages for others say what they need", async (t) => {
  const server = await guarded(t);
  const page = await openPage(t, await startBrowser(t), unauthorised);
  await logIn(page, server, "reader", "audit");
  await page.getByText(/admin/).first().waitFor();
  await page.getByRole("link", { name: "Try it" }).click();
  await eventually("it says that a token with lock is needed", async () => {
    const acquire = page.getByRole("button", { name: "Acquire", exact: true });
    return (await acquire.count()) === 0 || (await acquire.isDisabled());
  });
  assert.match(await page.locator("main").innerText(), /lock/);
});

test("names that a token does not cover are not there", async (t) => {
  const server = await guarded(t);
  await server.client.acquire("orders:1", { ttl: "5m" });
  await server.client.acquire("secret:1", { ttl: "5m" });
  const page = await openPage(t, await startBrowser(t), unauthorised);
  await logIn(page, server, "narrow");
  await rowOf(page, "orders:1").waitFor();
  const lease = await server.client.acquire("secret:2", { ttl: "5m" });
  await server.client.acquire("orders:2", { ttl: "5m" });
  await rowOf(page, "orders:2").waitFor();
  await server.client.release(lease);
  assert.ok(!(await page.content()).includes("secret:"));
});

test("an admin takes a lock away, with its name and a reason", async (t) => {
  const server = await guarded(t);
  const held = await server.client.acquire("orders:42", { ttl: "5m", metadata: { host: "web-1", pid: 4711 } });
  const next = server.client.acquire("orders:42", { ttl: "5m", wait: "5m", metadata: { host: "web-2", pid: 815 } });
  const page = await openPage(t, await startBrowser(t), unauthorised);
  await logIn(page, server, "ops", "locks/orders%3A42");
  await page.getByText(/1 waiting/).waitFor();
  await page.getByRole("button", { name: /by force/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("web-1:4711").waitFor();
  await dialog.getByText("web-2:815").waitFor();
  assert.match(await dialog.innerText(), /two may be at work/);
  const release = dialog.getByRole("button", { name: /by force/ });
  assert.ok(await release.isDisabled(), "neither name nor reason");
  await dialog.getByLabel(/Type the name/).fill("orders:4");
  await dialog.getByLabel(/Reason/).fill("stuck since noon");
  assert.ok(await release.isDisabled(), "another name");
  await dialog.getByLabel(/Type the name/).fill("orders:42");
  await release.click();
  await dialog.getByText(/Taken from 1 holder/).waitFor();
  await next;
  const { json } = await server.client.call("GET", "/v1/audit?what=forced");
  assert.equal(json.entries[0].reason, "stuck since noon");
  assert.equal(json.entries[0].principal, "ops");
  const lock = await server.client.call("GET", "/v1/locks/orders:42");
  assert.ok(lock.json.holders.every((holder) => holder.fence !== held.fence));
});

test("a token that is revoked while one looks ends at the login", async (t) => {
  const { writeFileSync } = await import("node:fs");
  const file = tokenFile(t, ["reader read *"]);
  const server = await startServer(t, { words: ["--token-file", file] });
  const page = await openPage(t, await startBrowser(t), unauthorised);
  await logIn(page, server, "reader", "");
  writeFileSync(file, "# nobody\n", { mode: 0o600 });
  server.child.kill("SIGHUP");
  await page.getByLabel("Token").waitFor();
});
