// SPDX-License-Identifier: Apache-2.0
//
// The pictures of docs/: a server with a day's work on it, looked at from a desk and from a phone.
//
//   HOLDFAST_BINARY=… node screenshots.mjs FOLDER
import { join } from "node:path";
import { desktop, openDashboard, openPage, phone, startBrowser } from "./support/browser.mjs";
import { sleep, startServer } from "./support/server.mjs";

const folder = process.argv[2];
if (!folder) throw new Error("usage: screenshots.mjs FOLDER");

const hosts = ["web-1", "web-2", "web-3", "worker-7", "batch-2"];

/** One process that takes its turn at the same locks again and again. */
async function work(client, number, state) {
  const metadata = { host: hosts[number % hosts.length], pid: 4000 + number, program: "worker", note: number % 2 ? "nightly" : "" };
  while (!state.over) {
    const name = Math.random() < 0.75 ? "orders:42" : "billing:invoice-run";
    const lease = await client.acquire(name, { ttl: "4s", wait: "30s", metadata });
    const time = 300 + Math.random() * 1200;
    await sleep(time / 2);
    const path = `/v1/locks/${encodeURIComponent(name)}`;
    if (Math.random() < 0.6) await client.call("POST", `${path}/renew`, { owner: lease.owner, ttl: "4s" });
    await sleep(time / 2);
    await client.call("POST", `${path}/release`, { owner: lease.owner });
    await sleep(Math.random() * 400);
  }
}

async function fill(client, state) {
  const jobs = ["nightly-report", "deploy:web", "deploy:api", "cache:warm", "search:reindex", "mail:digest"];
  for (const [i, name] of jobs.entries()) {
    await client.acquire(name, { ttl: `${(i + 1) * 4}m`, metadata: { host: hosts[i % 5], pid: 9000 + i, program: "cron", note: "scheduled" } });
  }
  for (let i = 0; i < 40; ++i) {
    await client.acquire(`shard:${String(i).padStart(2, "0")}`, { ttl: "30m", metadata: { host: hosts[i % 5], pid: 9100 + i, program: "indexer" } });
  }
  await client.acquire("config", { ttl: "10m", kind: "read_write", mode: "read", metadata: { host: "web-1", pid: 812 } });
  await client.acquire("config", { ttl: "10m", kind: "read_write", mode: "read", metadata: { host: "web-2", pid: 455 } });
  await client.acquire("licences", { ttl: "10m", kind: "semaphore", capacity: 5, permits: 2, metadata: { host: "batch-2", pid: 77 } });
  await client.acquire("scheduler", { ttl: "10m", kind: "election", metadata: { host: "web-2", pid: 455, value: "http://web-2:8080" } });
  for (let i = 0; i < 7; ++i) work(client, i, state).catch(() => {});
  const owners = ["A", "B", "C"];
  for (const [i, owner] of owners.entries()) {
    await client.acquire(`account:${i + 1}`, { ttl: "10m", owner, metadata: { host: hosts[i], pid: 4711 + i } });
  }
  for (const [i, owner] of owners.entries()) {
    client.acquire(`account:${((i + 1) % 3) + 1}`, { wait: "10m", owner, metadata: { host: hosts[i], pid: 4711 + i } }).catch(() => {});
  }
  for (let i = 0; i < 70; ++i) await client.call("POST", "/v1/rate-limits/mail-api/check", { rate: "100/m" });
  for (let i = 0; i < 8; ++i) await client.call("POST", "/v1/rate-limits/login:user-42/check", { rate: "5/m" });
}

const shots = [
  { file: "dashboard-overview", path: "", options: { viewport: desktop } },
  { file: "dashboard-locks", path: "locks", options: { viewport: desktop, colorScheme: "dark" } },
  { file: "dashboard-lock", path: "locks/orders%3A42", options: { viewport: { width: 1440, height: 1080 } } },
  { file: "dashboard-deadlocks", path: "deadlocks", options: { viewport: { width: 1440, height: 640 } } },
  { file: "dashboard-phone", path: "locks", options: { viewport: phone } },
];

const ends = [];
const t = { after: (end) => ends.push(end) };
const state = { over: false };
try {
  const server = await startServer(t);
  await fill(server.client, state);
  const browser = await startBrowser(t);
  await sleep(70_000); // so that the charts have their minute
  for (const { file, path, options } of shots) {
    const page = await openPage(t, browser, options);
    await openDashboard(page, server, path);
    if (path === "") await page.getByText("1 min", { exact: true }).click();
    await sleep(4_000);
    await page.screenshot({ path: join(folder, `${file}.png`) });
  }
} finally {
  state.over = true;
  for (const end of ends.reverse()) await end();
}
