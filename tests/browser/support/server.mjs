// SPDX-License-Identifier: Apache-2.0
//
// The real program on a free port of this machine, and a real Redis where one is wanted. Each ends
// with its test, by its own pid.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atMost } from "./timing.mjs";

export const binary = process.env.HOLDFAST_BINARY;
if (!binary) throw new Error("HOLDFAST_BINARY must name the program to test");

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks again until the answer is not falsy, or says what was waited for. */
export async function eventually(what, ask, patienceMs = 30_000) {
  const begin = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() - begin > atMost(patienceMs)) throw new Error(`it did not come to pass: ${what}`);
    await sleep(20);
  }
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const ends = new WeakMap();

/** Like t.after, but what came last goes first: a page is closed before its server is. */
export function atEnd(t, end) {
  if (!ends.has(t)) {
    const all = [];
    ends.set(t, all);
    t.after(async () => {
      while (all.length > 0) await all.pop()();
    });
  }
  ends.get(t).push(end);
}

/** A folder that goes with the test. */
export function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-browser-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function end(child, signal = "SIGTERM") {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  const patience = setTimeout(() => child.kill("SIGKILL"), atMost(15_000));
  await ended;
  clearTimeout(patience);
}

/** Calls the API as any client would. */
export class Client {
  constructor(address, token = null) {
    this.address = address;
    this.token = token;
  }

  async call(method, path, body) {
    const headers = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.token !== null) headers.Authorization = `Bearer ${this.token}`;
    const answer = await fetch(`http://${this.address}${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: answer.status, json: await answer.json() };
  }

  async acquire(name, body = {}) {
    const { status, json } = await this.call("POST", `/v1/locks/${encodeURIComponent(name)}/acquire`, body);
    if (status !== 200) throw new Error(`acquire ${name}: ${status} ${json.detail}`);
    return json;
  }

  async release(lease) {
    const { status, json } = await this.call("POST", `/v1/locks/${encodeURIComponent(lease.name)}/release`, {
      owner: lease.owner,
    });
    if (status !== 200) throw new Error(`release ${lease.name}: ${status} ${json.detail}`);
  }
}

export class Server {
  constructor(words) {
    this.words = words;
  }

  async start(port = 0) {
    const words = ["serve", "--listen", `127.0.0.1:${port}`, ...this.words];
    this.child = spawn(binary, words, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env.PATH, HOME: "/nonexistent" },
    });
    let told = "";
    this.child.stderr.on("data", (bytes) => (told += bytes));
    this.address = await eventually(`the server listens: ${told}`, () => {
      if (this.child.exitCode !== null) throw new Error(`the server ended: ${told}`);
      return told.match(/listening address=(127\.0\.0\.1:\d+)/)?.[1];
    });
    this.url = `http://${this.address}/`;
    this.client = new Client(this.address);
  }

  stop(signal) {
    return end(this.child, signal);
  }

  /** The same address again, as after an upgrade. */
  async restart() {
    const port = Number(this.address.split(":")[1]);
    await this.stop();
    await this.start(port);
  }
}

/** A server of its own for this test, on `memory:` unless it says otherwise. */
export async function startServer(t, { store = "memory:", words = [] } = {}) {
  const server = new Server(["--store", store, ...words]);
  await server.start();
  atEnd(t, () => server.stop());
  return server;
}

/** A Redis of its own; answers its URL. */
export async function startRedis(t) {
  const port = await freePort();
  const folder = temporaryFolder(t);
  const words = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"];
  const child = spawn(process.env.HOLDFAST_REDIS_SERVER || "redis-server", words, { stdio: ["ignore", "ignore", "ignore"] });
  atEnd(t, () => end(child));
  await eventually("redis-server listens", () => {
    if (child.exitCode !== null) throw new Error("redis-server ended");
    return new Promise((resolve) => {
      const probe = net.connect(port, "127.0.0.1", () => {
        probe.destroy();
        resolve(true);
      });
      probe.once("error", () => resolve(false));
    });
  });
  return `redis://127.0.0.1:${port}`;
}

/** A token file with one token for each line: `NAME VERBS PREFIXES`; the secret is `secret-of-NAME`. */
export function tokenFile(t, lines) {
  const file = join(temporaryFolder(t), "tokens");
  const text = lines.map((line) => {
    const [name, verbs, prefixes] = line.split(" ");
    const hash = createHash("sha256").update(`secret-of-${name}`).digest("hex");
    return `${name} ${hash} ${verbs} ${prefixes}\n`;
  });
  writeFileSync(file, text.join(""), { mode: 0o600 });
  return file;
}

/** Runs the program to its end, as another process of the same store. */
export function run(...words) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, words, { stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.on("data", (bytes) => (out += bytes));
    child.stderr.on("data", (bytes) => (err += bytes));
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve(out) : reject(new Error(`${words.join(" ")}: ${code} ${err}`))));
  });
}
