// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { ApiProblem } from "../src/api/problem";
import type { LiveStatus } from "../src/state/live";
import { GO, SECOND_KEY_MS, decideKey, type KeyState } from "../src/shell/keys";
import { liveText } from "../src/shell/live_text";
import { PAGES } from "../src/shell/pages";
import { storeText } from "../src/shell/store_text";
import { nextTheme, themeOf } from "../src/state/theme";
import { adviceFor } from "../src/text/advice";

const IDLE: KeyState = { since: null };

describe("keys", () => {
  test("g and a letter lead to each page", () => {
    for (const { key, page } of PAGES) {
      const first = decideKey(IDLE, "g", 1000);
      expect(first.deed).toBeNull();
      expect(decideKey(first.state, key, 1100)).toEqual({ state: IDLE, deed: { do: "go", page } });
    }
    expect(Object.keys(GO)).toHaveLength(PAGES.length);
  });

  test("a letter alone, or too late, means nothing", () => {
    expect(decideKey(IDLE, "l", 0).deed).toBeNull();
    const { state } = decideKey(IDLE, "g", 0);
    expect(decideKey(state, "l", SECOND_KEY_MS + 1).deed).toBeNull();
  });

  test("another key in between ends it", () => {
    const { state } = decideKey(decideKey(IDLE, "g", 0).state, "x", 10);
    expect(decideKey(state, "l", 20).deed).toBeNull();
  });

  test("g twice still waits for a letter", () => {
    const twice = decideKey(decideKey(IDLE, "g", 0).state, "g", 100);
    expect(decideKey(twice.state, "o", 200).deed).toEqual({ do: "go", page: "overview" });
  });

  test("/ searches and ? helps", () => {
    expect(decideKey(IDLE, "/", 0).deed).toEqual({ do: "search" });
    expect(decideKey(IDLE, "?", 0).deed).toEqual({ do: "help" });
  });
});

describe("the header", () => {
  const status = (more: Partial<LiveStatus>): LiveStatus => ({ state: "live", problem: null, lastByteAt: 1000, eventsPerSecond: 0, listing: false, listProblem: null, ...more });

  test("says how old a stale page is", () => {
    expect(liveText(status({ state: "stale" }), 13_400)).toEqual({ word: "Stale", tone: "bad", more: "last update 12s ago" });
  });

  test("says how much happens while it is live, and how long ago if nothing does", () => {
    expect(liveText(status({ eventsPerSecond: 4980 }), 1500).more).toBe("4,980 events/s");
    expect(liveText(status({}), 9000).more).toBe("last update 8s ago");
  });

  test("says that nothing has come yet", () => {
    expect(liveText(status({ state: "connecting", lastByteAt: null }), 0)).toMatchObject({ word: "Connecting", more: "nothing received yet" });
  });

  test("says how the store is", () => {
    const store = { url: "redis://x", status: "ok" as const, latency_ms: 0.171 };
    expect(storeText({ status: "ok", store }, null)).toEqual({ url: "redis://x", word: "ok 0.2ms", tone: "good" });
    expect(storeText({ status: "unavailable", store: { ...store, status: "unavailable" } }, null).tone).toBe("bad");
    expect(storeText({ status: "draining", store }, null).tone).toBe("warn");
    expect(storeText({ status: "ok", store }, new ApiProblem(0, "unreachable", "")).word).toBe("server unreachable");
    expect(storeText({ status: "ok" }, null)).toMatchObject({ url: "store", word: "ok" });
    expect(storeText(null, null).tone).toBe("warn");
  });
});

describe("small things", () => {
  test("the theme goes round, and anything unknown is auto", () => {
    expect(nextTheme(nextTheme(nextTheme("auto")))).toBe("auto");
    expect([themeOf(null), themeOf("purple"), themeOf("dark")]).toEqual(["auto", "auto", "dark"]);
  });

  test("advice is given where one can do something", () => {
    expect(adviceFor(new ApiProblem(403, "forbidden", ""))).toContain("token");
    expect(adviceFor(new ApiProblem(503, "unavailable", ""))).toContain("holdfast doctor");
    expect(adviceFor(new ApiProblem(409, "busy", ""))).toBe("");
  });
});
