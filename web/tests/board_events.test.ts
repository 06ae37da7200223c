// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { Lock } from "../src/api/types";
import { Board } from "../src/state/board";
import { event, holder, lock, waiter } from "./make";

function boardWith(...locks: Lock[]): Board {
  const board = new Board();
  board.beginLoad();
  board.load(locks, 1000);
  board.endLoad();
  return board;
}

const fences = (board: Board, name = "a") => board.get(name)?.holders.map((held) => held.fence);
const parties = (board: Board, name = "a") => board.get(name)?.waiters.map((one) => one.party);

describe("acquired", () => {
  test("adds a lock that was not known, with its lease and what its holder said", () => {
    const board = new Board();
    board.apply(event("acquired", "a", { fence: 5, party: "p", expires_in_ms: 30_000, host: "web-1", pid: 7, note: "n" }), 2000);
    expect(board.get("a")?.holders[0]).toMatchObject({ fence: 5, party: "p", since: 2000, expires_at: 32_000, span: 30_000, host: "web-1", pid: 7, note: "n" });
    expect(board.takeDirty()).toEqual([]);
  });

  test("is nothing new if its fence is there", () => {
    const board = boardWith(lock("a", [holder(5)]));
    const { version } = board;
    board.apply(event("acquired", "a", { fence: 5, expires_in_ms: 9 }), 2000);
    expect(fences(board)).toEqual([5]);
    expect(board.version).toBe(version);
  });

  test("takes its party out of the queue", () => {
    const board = boardWith(lock("a", [], [waiter("x"), waiter("y"), waiter("z")]));
    board.apply(event("acquired", "a", { fence: 5, party: "y", waited_ms: 20, expires_in_ms: 1 }), 2000);
    expect(parties(board)).toEqual(["x", "z"]);
    expect(board.waiters).toBe(2);
  });

  test("takes the first out of the queue if it waited and has no party", () => {
    const board = boardWith(lock("a", [], [waiter(null), waiter(null)]));
    board.apply(event("acquired", "a", { fence: 5, waited_ms: 20, expires_in_ms: 1 }), 2000);
    expect(parties(board)).toEqual([null]);
  });

  test("leaves the queue alone if it did not wait", () => {
    const board = boardWith(lock("a", [], [waiter("x")]));
    board.apply(event("acquired", "a", { fence: 5, waited_ms: 0, expires_in_ms: 1 }), 2000);
    board.apply(event("acquired", "a", { fence: 6, expires_in_ms: 1 }), 2000);
    expect(parties(board)).toEqual(["x"]);
  });

  test("of an exclusive lock means that whoever held it before is gone", () => {
    const board = boardWith(lock("a", [holder(5)]));
    board.apply(event("acquired", "a", { fence: 6, expires_in_ms: 1 }), 2000);
    expect(fences(board)).toEqual([6]);
  });

  test("that is told late does not drive out a newer holder", () => {
    const board = boardWith(lock("a", [holder(6)]));
    board.apply(event("acquired", "a", { fence: 5, expires_in_ms: 1 }), 2000);
    expect(fences(board)).toEqual([6]);
  });

  test("of a shared mode or a semaphore stands beside the others", () => {
    const board = boardWith(lock("a", [holder(5, { mode: "shared" })]), lock("s", [holder(7)], [], { kind: "semaphore", capacity: 3 }));
    board.apply(event("acquired", "a", { fence: 6, kind: "read_write", mode: "shared", expires_in_ms: 1 }), 2000);
    board.apply(event("acquired", "s", { fence: 8, kind: "semaphore", expires_in_ms: 1 }), 2000);
    expect(fences(board)).toEqual([5, 6]);
    expect(fences(board, "s")).toEqual([7, 8]);
  });

  test("without a fence only the server knows what happened", () => {
    const board = boardWith(lock("a", [holder(5)]));
    board.apply(event("acquired", "a"), 2000);
    expect(fences(board)).toEqual([5]);
    expect(board.takeDirty()).toEqual(["a"]);
  });

  test("without the time left it shows the holder, and asks", () => {
    const board = new Board();
    board.apply(event("acquired", "a", { fence: 5 }), 2000);
    expect(board.get("a")?.holders[0]).toMatchObject({ expires_at: null });
    expect(board.takeDirty()).toEqual(["a"]);
  });
});

describe("queued and left", () => {
  test("a waiter comes and goes by its party", () => {
    const board = boardWith(lock("a"));
    board.apply(event("queued", "a", { party: "x", host: "web-2" }), 2000);
    board.apply(event("queued", "a", { party: "y" }), 2100);
    expect(board.get("a")?.waiters[0]).toMatchObject({ party: "x", since: 2000, host: "web-2" });
    board.apply(event("left", "a", { party: "x" }), 2200);
    expect(parties(board)).toEqual(["y"]);
    expect(board.waiters).toBe(1);
  });

  test("the same waiter is not counted twice", () => {
    const board = boardWith(lock("a", [holder(1)], [waiter("x")]));
    board.apply(event("queued", "a", { party: "x" }), 2000);
    expect(parties(board)).toEqual(["x"]);
  });

  test("without a party they mark the lock", () => {
    const board = boardWith(lock("a", [holder(1)], [waiter("x")]));
    board.apply(event("queued", "a"), 2000);
    board.apply(event("left", "a"), 2000);
    expect(parties(board)).toEqual(["x"]);
    expect(board.takeDirty()).toEqual(["a"]);
  });

  test("the last waiter of a lock that nobody holds takes it along", () => {
    const board = boardWith(lock("a", [], [waiter("x")]));
    board.apply(event("left", "a", { party: "x" }), 2000);
    expect(board.get("a")).toBeUndefined();
  });

  test("a waiter that was never seen leaves nothing behind", () => {
    const board = new Board();
    board.apply(event("left", "a", { party: "x" }), 2000);
    expect(board.rows.size).toBe(0);
    expect(board.dirty).toBe(0);
  });
});

describe("renewed", () => {
  test("moves the deadline, and the full bar grows with it", () => {
    const board = boardWith(lock("a", [holder(5, { expires_in_ms: 10_000, claimed: true })]));
    board.apply(event("renewed", "a", { fence: 5, expires_in_ms: 30_000 }), 4000);
    expect(board.get("a")?.holders[0]).toMatchObject({ expires_at: 34_000, span: 30_000, claimed: false });
  });

  test("never shortens a lease", () => {
    const board = boardWith(lock("a", [holder(5, { expires_in_ms: 30_000 })]));
    board.apply(event("renewed", "a", { fence: 5, expires_in_ms: 5000 }), 2000);
    expect(board.get("a")?.holders[0]).toMatchObject({ expires_at: 31_000, span: 30_000 });
  });

  test("of a holder that is not known marks the lock", () => {
    const board = boardWith(lock("a", [holder(5)]));
    board.apply(event("renewed", "a", { fence: 4, expires_in_ms: 5000 }), 2000);
    board.apply(event("renewed", "b", { fence: 4, expires_in_ms: 5000 }), 2000);
    expect(board.takeDirty()).toEqual(["a", "b"]);
  });
});

describe("released, expired, lost and forced", () => {
  test.each(["released", "expired", "lost"] as const)("%s removes the holder with its fence and no other", (type) => {
    const board = boardWith(lock("a", [holder(5), holder(6)], [], { kind: "semaphore" }));
    board.apply(event(type, "a", { fence: 5 }), 2000);
    expect(fences(board)).toEqual([6]);
    board.apply(event(type, "a", { fence: 6 }), 2000);
    expect(board.get("a")).toBeUndefined();
  });

  test("forced removes everybody up to its fence, and not who came after", () => {
    const board = boardWith(lock("a", [holder(5), holder(6), holder(9)], [], { kind: "semaphore" }));
    board.apply(event("forced", "a", { fence: 7 }), 2000);
    expect(fences(board)).toEqual([9]);
  });

  test("a lock that others wait for stays", () => {
    const board = boardWith(lock("a", [holder(5)], [waiter("x")]));
    board.apply(event("released", "a", { fence: 5 }), 2000);
    expect(board.get("a")).toMatchObject({ holders: [], waiters: [{ party: "x" }] });
  });

  test("an end that is told twice, or late, changes nothing", () => {
    const board = boardWith(lock("a", [holder(6)]));
    board.apply(event("released", "a", { fence: 5 }), 2000);
    board.apply(event("released", "a", { fence: 5 }), 2000);
    expect(fences(board)).toEqual([6]);
  });

  test("without a fence they mark the lock, if it is known", () => {
    const board = boardWith(lock("a", [holder(5)]));
    board.apply(event("released", "a"), 2000);
    board.apply(event("released", "b"), 2000);
    expect(fences(board)).toEqual([5]);
    expect(board.takeDirty()).toEqual(["a"]);
  });

  test("a reentrant lock may still be held after one release, so the server is asked", () => {
    const board = boardWith(lock("a", [holder(5)], [], { kind: "reentrant" }));
    board.apply(event("released", "a", { fence: 5 }), 2000);
    expect(fences(board)).toEqual([5]);
    expect(board.takeDirty()).toEqual(["a"]);
  });
});

describe("events about no lock in particular", () => {
  test("another store behind the address needs a new listing", () => {
    expect(new Board().apply(event("store_changed", ""), 0)).toBe("list");
  });

  test("a deadlock changes no row", () => {
    const board = boardWith(lock("a"));
    const { version } = board;
    expect(board.apply(event("deadlock", "a"), 0)).toBe("done");
    expect(board.version).toBe(version);
  });
});
