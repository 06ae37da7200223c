// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Holder, Mode, Permits, Waiter } from "../src/api/types";
import { alsoOf, isTyped, shareOf, standingOf, whoOf } from "../src/pages/lock_words";
import { nextInLine } from "../src/pages/next_in_line";

const nobody = { host: null, pid: null, program: null, source: null, note: null, party: null };

function waiter(mode: Mode, permits: Permits, party: string): Waiter {
  return { ...nobody, mode, permits, party, waiting_ms: 0 };
}

const parties = (waiters: Waiter[], capacity: number | null): (string | null)[] => nextInLine({ waiters, capacity }).map((each) => each.party);

describe("who is next in line", () => {
  it("is nobody where nobody waits", () => {
    expect(parties([], null)).toEqual([]);
  });

  it("is the first one, alone, if it wants the lock for itself", () => {
    expect(parties([waiter("exclusive", "all", "w"), waiter("shared", 1, "r")], null)).toEqual(["w"]);
  });

  it("is every reader up to the first writer", () => {
    expect(parties([waiter("shared", 1, "a"), waiter("shared", 1, "b"), waiter("exclusive", "all", "w"), waiter("shared", 1, "c")], null)).toEqual(["a", "b"]);
  });

  it("is as many as a semaphore has room for, and nobody passes one that does not fit", () => {
    expect(parties([waiter("shared", 2, "a"), waiter("shared", 2, "b"), waiter("shared", 1, "c")], 3)).toEqual(["a"]);
    expect(parties([waiter("shared", 2, "a"), waiter("shared", 1, "b"), waiter("shared", 1, "c")], 3)).toEqual(["a", "b"]);
  });
});

describe("who somebody is", () => {
  it("is its process where it says so, else what else it says", () => {
    expect(whoOf({ ...nobody, host: "web-1", pid: 4711, program: "report" })).toBe("web-1:4711");
    expect(whoOf({ ...nobody, host: "web-1" })).toBe("web-1");
    expect(whoOf({ ...nobody, program: "report", pid: 7 })).toBe("report:7");
    expect(whoOf({ ...nobody, note: "nightly" })).toBe("nightly");
    expect(whoOf({ ...nobody, party: "9c5f1e07a2b3d486" })).toBe("party 9c5f1e07");
    expect(whoOf(nobody)).toBe("unknown owner");
  });

  it("is not said twice", () => {
    expect(alsoOf({ ...nobody, note: "nightly" })).toEqual([]);
    expect(alsoOf({ ...nobody, host: "web-1", program: "report", source: "", note: "nightly" })).toEqual(["report", "nightly"]);
  });
});

describe("how a lock stands", () => {
  const holder = {} as Holder;
  const one = waiter("exclusive", "all", "w");

  it("says who holds it and how many wait", () => {
    expect(standingOf(null)).toEqual({ tone: "free", text: "free" });
    expect(standingOf({ holders: [], waiters: [] }).tone).toBe("free");
    expect(standingOf({ holders: [holder], waiters: [] })).toEqual({ tone: "held", text: "held" });
    expect(standingOf({ holders: [holder, holder], waiters: [one] })).toEqual({ tone: "contended", text: "held by 2, 1 waiting" });
    expect(standingOf({ holders: [], waiters: [one] }).tone).toBe("contended");
  });

  it("says what part of it somebody has", () => {
    expect(shareOf("semaphore", "shared", 3)).toBe("3 permits");
    expect(shareOf("semaphore", "exclusive", "all")).toBe("all permits");
    expect(shareOf("read_write", "shared", 1)).toBe("shared");
    expect(shareOf("mutex", "exclusive", "all")).toBe("");
  });
});

describe("a name that was typed", () => {
  it("must be the very same, or what is shown for it", () => {
    expect(isTyped("a", "a", "a")).toBe(true);
    expect(isTyped("a ", "a", "a")).toBe(false);
    expect(isTyped("A", "a", "a")).toBe(false);
    expect(isTyped("a\\nb", "a\nb", "a\\nb")).toBe(true);
    expect(isTyped("", "a", "a")).toBe(false);
  });
});
