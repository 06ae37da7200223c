// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { Board, MAX_LOG, MAX_ROWS } from "../src/state/board";
import { event, holder, lock, waiter } from "./make";

const names = (board: Board) => [...board.rows.keys()].sort();

function loaded(...rows: string[]): Board {
  const board = new Board();
  board.beginLoad();
  board.load(rows.map((name) => lock(name)), 1000);
  board.endLoad();
  return board;
}

describe("a listing", () => {
  test("shows its first page before the others have come", () => {
    const board = new Board();
    board.beginLoad();
    board.load([lock("a")], 1000);
    expect(names(board)).toEqual(["a"]);
    expect(board.complete).toBe(false);
  });

  test("turns times into our own clock", () => {
    const board = new Board();
    board.beginLoad();
    board.load([lock("a", [holder(1, { held_ms: 400, expires_in_ms: 2000 })], [waiter("x", { waiting_ms: 300 })])], 1000);
    expect(board.get("a")).toMatchObject({ holders: [{ since: 600, expires_at: 3000, span: 2000 }], waiters: [{ since: 700 }] });
  });

  test("keeps the longest lease that was seen of the same holder", () => {
    const board = new Board();
    board.load([lock("a", [holder(1, { expires_in_ms: 30_000 })])], 1000);
    board.load([lock("a", [holder(1, { expires_in_ms: 9000 })])], 22_000);
    expect(board.get("a")?.holders[0]).toMatchObject({ expires_at: 31_000, span: 30_000 });
    board.load([lock("a", [holder(2, { expires_in_ms: 5000 })])], 23_000);
    expect(board.get("a")?.holders[0]?.span).toBe(5000);
  });

  test("removes what it did not have, once it is complete", () => {
    const board = loaded("a", "b", "c");
    board.beginLoad();
    board.load([lock("a")], 2000);
    expect(names(board)).toEqual(["a", "b", "c"]);
    board.load([lock("c")], 2000);
    board.endLoad();
    expect(names(board)).toEqual(["a", "c"]);
  });

  test("that failed removes nothing", () => {
    const board = loaded("a", "b");
    board.beginLoad();
    board.load([lock("a")], 2000);
    board.dropLoad();
    board.endLoad();
    expect(names(board)).toEqual(["a", "b"]);
  });

  test("counts those who wait", () => {
    const board = new Board();
    board.load([lock("a", [holder(1)], [waiter("x"), waiter("y")]), lock("b", [holder(2)], [waiter("z")])], 0);
    expect(board.waiters).toBe(3);
    board.load([lock("a", [holder(1)], [waiter("x")])], 0);
    expect(board.waiters).toBe(2);
    board.clear();
    expect(board.waiters).toBe(0);
  });
});

describe("a listing that races with events", () => {
  test("does not remove a lock that was acquired meanwhile", () => {
    const board = loaded("a");
    board.beginLoad();
    board.apply(event("acquired", "new", { fence: 9, expires_in_ms: 1 }), 2000);
    board.load([lock("a")], 2000);
    board.endLoad();
    expect(names(board)).toEqual(["a", "new"]);
  });

  test("does not bring back a holder that was released after its page was made", () => {
    const board = loaded("a");
    board.beginLoad();
    board.apply(event("released", "a", { fence: 1 }), 2000);
    board.load([lock("a", [holder(1)])], 2000);
    board.endLoad();
    expect(names(board)).toEqual([]);
  });

  test("is not set back by events that its page knew already", () => {
    const board = loaded("a");
    board.beginLoad();
    board.apply(event("queued", "a", { party: "x" }), 1900);
    board.apply(event("released", "a", { fence: 1 }), 1950);
    board.apply(event("acquired", "a", { fence: 2, party: "x", waited_ms: 50, expires_in_ms: 30_000 }), 1960);
    board.apply(event("renewed", "a", { fence: 2, expires_in_ms: 30_000 }), 1970);
    board.load([lock("a", [holder(2, { party: "x", expires_in_ms: 29_990 })], [waiter("y")])], 2000);
    board.endLoad();
    const row = board.get("a");
    expect(row?.holders.map((held) => held.fence)).toEqual([2]);
    expect(row?.waiters.map((one) => one.party)).toEqual(["y"]);
    expect(row?.holders[0]?.expires_at).toBe(31_990);
    expect(board.waiters).toBe(1);
  });

  test("gives the same whether its page was made before, between or after the events", () => {
    const story = [
      event("acquired", "a", { fence: 1, party: "p", expires_in_ms: 30_000 }),
      event("queued", "a", { party: "q" }),
      event("released", "a", { fence: 1 }),
      event("acquired", "a", { fence: 2, party: "q", waited_ms: 5, expires_in_ms: 30_000 }),
      event("queued", "a", { party: "r" }),
    ];
    const pages = [[], [lock("a", [holder(1)])], [lock("a", [holder(1)], [waiter("q")])], [lock("a", [], [waiter("q")])], [lock("a", [holder(2)])], [lock("a", [holder(2)], [waiter("r")])]];
    for (const page of pages) {
      const board = new Board();
      board.beginLoad();
      for (const one of story) board.apply(one, 1000);
      board.load(page, 1000);
      board.endLoad();
      expect(board.get("a")?.holders.map((held) => held.fence)).toEqual([2]);
      expect(board.get("a")?.waiters.map((one) => one.party)).toEqual(["r"]);
    }
  });

  test("leaves a lock alone whose events found no room", () => {
    const board = loaded("hot");
    board.beginLoad();
    for (let i = 0; i < MAX_LOG; ++i) board.apply(event("renewed", "hot", { fence: 1, expires_in_ms: 1 }), 1000);
    board.apply(event("acquired", "hot", { fence: 2, expires_in_ms: 1 }), 1000);
    board.load([lock("hot", [holder(1)])], 1000);
    board.endLoad();
    expect(board.get("hot")?.holders.map((held) => held.fence)).toEqual([2]);
  });
});

describe("single locks", () => {
  test("are replaced by what the server says", () => {
    const board = loaded("a");
    board.refresh(lock("a", [holder(4)]), 3000);
    expect(board.get("a")?.holders[0]?.fence).toBe(4);
  });

  test("vanish if the server knows nothing of them", () => {
    const board = loaded("a");
    board.vanish("a", board.get("a"));
    expect(names(board)).toEqual([]);
  });

  test("do not vanish if something happened since we asked", () => {
    const board = loaded("a");
    const before = board.get("a");
    board.apply(event("queued", "a", { party: "x" }), 2000);
    board.vanish("a", before);
    expect(names(board)).toEqual(["a"]);
    expect(board.takeDirty()).toEqual(["a"]);
  });

  test("are asked for when a lease should be over and nobody said so", () => {
    const board = new Board();
    board.load([lock("short", [holder(1, { expires_in_ms: 500 })]), lock("long"), lock("queue", [], [waiter("x")])], 1000);
    board.markOverdue(2400);
    expect(board.dirty).toBe(0);
    board.markOverdue(2600);
    expect(board.takeDirty()).toEqual(["short"]);
    expect(names(board)).toEqual(["long", "queue", "short"]);
  });

  test("are asked for once, however often they were marked", () => {
    const board = loaded("a");
    board.markDirty("a");
    board.apply(event("queued", "a"), 0);
    expect(board.takeDirty()).toEqual(["a"]);
    expect(board.dirty).toBe(0);
  });
});

describe("bounds", () => {
  const many = Array.from({ length: MAX_ROWS }, (_, i) => `n${i}`);

  test("a listing of more than it keeps says so", () => {
    const board = loaded(...many, "one more");
    expect(board.rows.size).toBe(MAX_ROWS);
    expect(board.overflow).toBe(true);
    expect(board.full).toBe(true);
  });

  test("as many as it keeps are not too many", () => {
    expect(loaded(...many).overflow).toBe(false);
  });

  test("an event for a lock beyond them is not kept, nor asked for", () => {
    const board = loaded(...many);
    board.apply(event("acquired", "one more", { fence: 5, expires_in_ms: 1 }), 0);
    board.apply(event("renewed", "another", { fence: 5, expires_in_ms: 1 }), 0);
    expect(board.rows.size).toBe(MAX_ROWS);
    expect(board.overflow).toBe(true);
    expect(board.dirty).toBe(0);
  });

  test("a full listing makes room for others than those before it", () => {
    const board = loaded(...many);
    board.beginLoad();
    board.load([lock("other")], 0);
    board.endLoad();
    expect(names(board)).toEqual(["other"]);
    expect(board.overflow).toBe(false);
  });

  test("stays as small as what is held after many events", () => {
    const board = new Board();
    for (let i = 0; i < 50_000; ++i) {
      board.apply(event("acquired", `n${i}`, { fence: i + 1, expires_in_ms: 1 }), i);
      board.apply(event("released", `n${i}`, { fence: i + 1 }), i);
    }
    expect(board.rows.size).toBe(0);
    expect(board.waiters).toBe(0);
    expect(board.dirty).toBe(0);
  });
});
