// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Api, type AcquireBody } from "../src/api/client";
import { ApiProblem } from "../src/api/problem";
import type { Lease } from "../src/api/types";
import { Tries, validUntil } from "../src/state/tries";
import type { Wanted } from "../src/text/snippets";

const WANTED: Wanted = { name: "demo", kind: "mutex", mode: "write", capacity: 3, permits: 1, ttl: "30s", wait: "5s", note: "n" };
const LEASE: Lease = { name: "demo", owner: "secret", fence: 5, expires_at: "", expires_in_ms: 30_000, waited_ms: 0 };

/** An API whose answers a test decides. */
class Fake extends Api {
  acquired: AcquireBody[] = [];
  renewed = 0;
  released = 0;
  answer: () => Promise<Lease> = () => Promise.resolve(LEASE);

  constructor() {
    super({ base: "http://h/", token: () => null, refused: () => undefined });
  }

  override acquire(_: string, body: AcquireBody, signal?: AbortSignal): Promise<Lease> {
    this.acquired.push(body);
    return new Promise((done, fail) => {
      signal?.addEventListener("abort", () => { fail(new DOMException("", "AbortError")); });
      this.answer().then(done, fail);
    });
  }

  override renew(): Promise<Lease> {
    ++this.renewed;
    return this.answer();
  }

  override release(): Promise<{ name: string; released: boolean }> {
    ++this.released;
    return Promise.resolve({ name: "demo", released: true });
  }
}

let api: Fake;
let tries: Tries;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  api = new Fake();
  tries = new Tries(api, "tab");
});

afterEach(() => { vi.useRealTimers(); });

describe("a lock that is tried", () => {
  test("is ours until a little before its lease ends, counted from before it was asked for", () => {
    expect(validUntil(1000, { waited_ms: 200, expires_in_ms: 30_000 })).toBe(1000 + 200 + 30_000 - 300 - 2);
  });

  test("is renewed every third of its ttl", async () => {
    await tries.start(WANTED);
    await pass(10_000);
    expect(api.renewed).toBe(1);
    await pass(60_000);
    expect(api.renewed).toBe(7);
    expect(tries.list[0]?.phase).toBe("held");
  });

  test("is lost at the end of its lease if it is not renewed", async () => {
    await tries.start(WANTED);
    tries.setAuto(1, false);
    await pass(29_000);
    expect(tries.list[0]?.phase).toBe("held");
    await pass(1000);
    expect(tries.list[0]).toMatchObject({ phase: "ended", outcome: "lost: its lease has ended" });
    expect(api.renewed).toBe(0);
  });

  test("tries again soon when a renewal fails, and gives up when the lease is over", async () => {
    await tries.start(WANTED);
    api.answer = () => Promise.reject(new ApiProblem(503, "unavailable", "down"));
    await pass(13_500);
    expect(api.renewed).toBe(4);
    expect(tries.list[0]).toMatchObject({ phase: "held", problem: { code: "unavailable" } });
    await pass(20_000);
    expect(tries.list[0]?.phase).toBe("ended");
  });

  test("is over when the server says that it is somebody else's", async () => {
    await tries.start(WANTED);
    api.answer = () => Promise.reject(new ApiProblem(403, "not_owner", ""));
    await tries.renew(1);
    expect(tries.list[0]).toMatchObject({ phase: "ended", outcome: "lost: its lease had ended" });
  });

  test("is given back", async () => {
    await tries.start(WANTED);
    await tries.release(1);
    expect(tries.list[0]).toMatchObject({ phase: "ended", outcome: "released" });
    await pass(60_000);
    expect(api.renewed).toBe(0);
  });

  test("can be cancelled while it waits", async () => {
    api.answer = () => new Promise(() => undefined);
    const started = tries.start(WANTED);
    expect(tries.list[0]?.phase).toBe("waiting");
    tries.cancel(1);
    await started;
    expect(tries.list[0]).toMatchObject({ phase: "ended", outcome: "cancelled" });
  });

  test("says who it is, each of them by another name", async () => {
    await tries.start(WANTED);
    await tries.start({ ...WANTED, note: "" });
    expect(api.acquired.map((body) => body.metadata)).toEqual([
      { note: "n", program: "dashboard", source: "dashboard tab-1" },
      { program: "dashboard", source: "dashboard tab-2" },
    ]);
  });

  test("finds room by dropping those that are over, never those that are held", async () => {
    for (let i = 0; i < 12; ++i) await tries.start(WANTED);
    expect(tries.full).toBe(true);
    await tries.start(WANTED);
    expect(tries.list).toHaveLength(12);
    await tries.release(3);
    await tries.start(WANTED);
    expect(tries.list).toHaveLength(12);
    expect(tries.list.some(({ id }) => id === 3)).toBe(false);
  });

  test("is given back on logging out, also if it is granted only then", async () => {
    let grant: (lease: Lease) => void = () => undefined;
    await tries.start(WANTED);
    api.answer = () => new Promise((done) => { grant = done; });
    void tries.start(WANTED);
    tries.releaseAll();
    grant(LEASE);
    await pass(10);
    expect(tries.list).toEqual([]);
    expect(api.released).toBeGreaterThanOrEqual(1);
    await pass(60_000);
    expect(api.renewed).toBe(0);
  });
});
