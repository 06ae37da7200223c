// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Api, type Door } from "../src/api/client";
import { SILENCE_MS, backOff, eventOf } from "../src/api/events";
import type { Lock, LockEvent } from "../src/api/types";
import { Board } from "../src/state/board";
import { MAX_SINGLE, dueAfter } from "../src/state/lister";
import { Live } from "../src/state/live";
import { event, holder, lock } from "./make";

const door: Door = { base: "http://h/", token: () => "hf_x", refused: () => undefined };

/** A server with locks and one event stream. */
class Server {
  lastEventId = 70;
  failing = false;
  locks: Lock[] = [];
  up = true;
  readonly asked: string[] = [];
  readonly lastIds: (string | null)[] = [];
  #stream: ReadableStreamDefaultController<Uint8Array> | null = null;

  readonly fetch = (url: URL, init: RequestInit): Promise<Response> => {
    this.asked.push(url.pathname + url.search);
    if (!this.up) return Promise.reject(new TypeError("down"));
    if (url.pathname === "/v1/events") return Promise.resolve(this.#open(init));
    return Promise.resolve(this.#answer(url));
  };

  send(one: LockEvent): void {
    this.write(`id: ${one.id}\nevent: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`);
  }

  write(text: string): void {
    this.#stream?.enqueue(new TextEncoder().encode(text));
  }

  cut(): void {
    this.#stream?.close();
  }

  count(path: string): number {
    return this.asked.filter((one) => one.startsWith(path)).length;
  }

  #open(init: RequestInit): Response {
    this.lastIds.push(new Headers(init.headers).get("Last-Event-ID"));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller;
        init.signal?.addEventListener("abort", () => { controller.error(new DOMException("aborted", "AbortError")); });
      },
    });
    return new Response(body);
  }

  #answer(url: URL): Response {
    if (this.failing) return Response.json({ status: 503, code: "unavailable", detail: "" }, { status: 503 });
    if (url.pathname === "/v1/locks") {
      const from = Number(url.searchParams.get("cursor") ?? "0");
      const to = from + 1000;
      return Response.json({ locks: this.locks.slice(from, to), next: to < this.locks.length ? String(to) : null, last_event_id: this.lastEventId });
    }
    const found = this.locks.find(({ name }) => name === decodeURIComponent(url.pathname.split("/")[3] ?? ""));
    return found ? Response.json(found) : Response.json({ status: 404, code: "not_found", detail: "" }, { status: 404 });
  }
}

let server: Server;
let board: Board;
let live: Live;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const names = () => [...board.rows.keys()].sort();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden: false });
  server = new Server();
  vi.stubGlobal("fetch", server.fetch);
  board = new Board();
  live = new Live(new Api(door), door, board);
});

afterEach(() => {
  live.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the live page", () => {
  test("lists every page, and follows the events from where the first one ends", async () => {
    server.locks = Array.from({ length: 2500 }, (_, i) => lock(`n${i}`));
    live.start();
    await pass(10);
    expect(server.asked).toEqual(["/v1/locks?limit=1000", "/v1/events", "/v1/locks?cursor=1000&limit=1000", "/v1/locks?cursor=2000&limit=1000"]);
    expect(server.lastIds).toEqual(["70"]);
    expect(board.rows.size).toBe(2500);
    expect(live.status.state).toBe("live");
  });

  test("follows the events although the first listing failed, and lists when the stream is open", async () => {
    server.failing = true;
    live.start();
    await pass(10);
    expect(live.status.listProblem).not.toBeNull();
    server.failing = false;
    server.locks = [lock("a")];
    expect(server.lastIds).toEqual([null]);
    await pass(6000);
    expect(names()).toEqual(["a"]);
  });

  test("applies events in batches of a quarter of a second", async () => {
    live.start();
    await pass(10);
    const batches: number[] = [];
    live.listen((events) => batches.push(events.length));
    for (let i = 0; i < 50; ++i) server.send(event("acquired", `n${i}`, { fence: i + 1, expires_in_ms: 1 }));
    await pass(100);
    expect(names()).toEqual([]);
    await pass(160);
    expect(board.rows.size).toBe(50);
    expect(batches).toEqual([50]);
  });

  test("does not let events pile up while timers stand still", async () => {
    live.start();
    await pass(10);
    const batches: number[] = [];
    live.listen((events) => batches.push(events.length));
    for (let i = 0; i < 12_000; ++i) server.send(event("acquired", `n${i % 10}`, { fence: i + 1, expires_in_ms: 1 }));
    await pass(0);
    await pass(1);
    expect(batches.slice(0, 2)).toEqual([5000, 5000]);
  });

  test("lists again when events were missed or the store changed", async () => {
    live.start();
    await pass(10);
    server.locks = [lock("a")];
    server.write("event: missed\ndata: {}\n\n");
    await pass(2100);
    expect(names()).toEqual(["a"]);
    server.locks = [lock("b")];
    server.send(event("store_changed", ""));
    await pass(2300);
    expect(names()).toEqual(["b"]);
  });

  test("asks for single locks where an event did not say enough, and for all where there are many", async () => {
    server.locks = [lock("a", [holder(7)])];
    live.start();
    await pass(10);
    server.send(event("acquired", "a"));
    server.send(event("acquired", "gone"));
    await pass(1300);
    expect(server.count("/v1/locks/a")).toBe(1);
    expect(server.count("/v1/locks/gone")).toBe(1);
    expect(names()).toEqual(["a"]);
    const before = server.count("/v1/locks?");
    for (let i = 0; i <= MAX_SINGLE; ++i) server.send(event("acquired", `x${i}`));
    await pass(2300);
    expect(server.count("/v1/locks?")).toBe(before + 1);
    expect(server.count("/v1/locks/x")).toBe(0);
  });

  test("asks for a lock whose lease ended without a word", async () => {
    server.locks = [lock("a", [holder(1, { expires_in_ms: 2000 })])];
    live.start();
    await pass(10);
    server.locks = [];
    await pass(2000);
    expect(names()).toEqual(["a"]);
    await pass(3000);
    expect(names()).toEqual([]);
    expect(server.count("/v1/locks/a")).toBe(1);
  });

  test("is stale when the stream breaks, and comes back with the last id and a new list", async () => {
    live.start();
    await pass(10);
    const last = event("acquired", "a", { fence: 1, expires_in_ms: 1 });
    server.send(last);
    await pass(300);
    server.up = false;
    server.cut();
    await pass(10);
    expect(live.status.state).toBe("stale");
    expect(live.status.problem).not.toBeNull();
    server.up = true;
    server.locks = [lock("b")];
    await pass(11_000);
    expect(live.status.state).toBe("live");
    expect(server.lastIds).toEqual(["70", String(last.id)]);
    expect(names()).toEqual(["b"]);
  });

  test("is stale when nothing comes, not even a comment", async () => {
    live.start();
    await pass(SILENCE_MS - 1000);
    server.write(": still here\n\n");
    await pass(SILENCE_MS - 1000);
    expect(live.status.state).toBe("live");
    server.up = false;
    await pass(2000);
    expect(live.status.state).toBe("stale");
  });

  test("tries at once when it is woken", async () => {
    server.up = false;
    live.start();
    await pass(60_000);
    const before = server.count("/v1/events");
    server.up = true;
    live.wake();
    await pass(1);
    expect(server.count("/v1/events")).toBe(before + 1);
    expect(live.status.state).toBe("live");
  });

  test("asks for nothing any more once it is stopped", async () => {
    live.start();
    await pass(10);
    live.stop();
    const before = server.asked.length;
    await pass(300_000);
    expect(server.asked).toHaveLength(before);
  });

  test("keeps to a prefix, on the stream as well", async () => {
    live.start();
    await pass(10);
    live.narrow("a:");
    await pass(10);
    expect(server.asked.slice(-2)).toEqual(["/v1/locks?prefix=a%3A&limit=1000", "/v1/events?prefix=a%3A"]);
  });
});

describe("its rules", () => {
  test("waits double until ten seconds, and up to half of it by chance", () => {
    expect([0, 1, 2, 3, 4, 5, 50].map((attempt) => backOff(attempt, 1))).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(backOff(5, 0)).toBe(5000);
  });

  test("lists often where it is cheap, and leaves the server ten times what a list took", () => {
    expect([dueAfter(1999, false, false, 9), dueAfter(2000, false, false, 9)]).toEqual([30_000, 120_000]);
    expect([dueAfter(5, true, false, 10), dueAfter(5, true, false, 900)]).toEqual([1000, 9000]);
    expect(dueAfter(5, true, true, 10)).toBe(5000);
  });

  test("takes only what is an event for one", () => {
    expect(eventOf('{"type":"lost","name":"a"}')).toMatchObject({ type: "lost" });
    for (const bad of ["", "null", "{}", "[]", '{"type":1,"name":"a"}', "nonsense"]) expect(eventOf(bad)).toBeNull();
  });
});
