// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { Lock } from "../src/api/types";
import { rowOf, type Row } from "../src/state/row";
import { sortedBy, summaryOf, top, viewOf, type View } from "../src/state/view";
import { holder, lock, waiter } from "./make";

const NOW = 1_000_000;
const row = (one: Lock): Row => rowOf(one, undefined, NOW);
const held = (name: string, ms: number, waits: number[] = []) =>
  row(lock(name, [holder(1, { held_ms: ms })], waits.map((waiting_ms, i) => waiter(`w${i}`, { waiting_ms }))));
const ROWS = [held("b", 50, [5, 90]), held("a", 700), held("c", 300, [20, 10, 30]), row(lock("d", [], [waiter("x", { waiting_ms: 400 })], { kind: "semaphore" }))];
const view = (more: Partial<View> = {}): View => ({ prefix: "", kind: null, sort: "name", down: false, ...more });
const names = (more: Partial<View>) => viewOf(ROWS, view(more)).map(({ name }) => name).join("");

describe("what the table shows", () => {
  test("is sorted by name, both ways", () => {
    expect([names({}), names({ down: true })]).toEqual(["abcd", "dcba"]);
  });

  test("is sorted by age, and what nobody holds is the youngest", () => {
    expect([names({ sort: "age", down: true }), names({ sort: "age" })]).toEqual(["acbd", "dbca"]);
  });

  test("is sorted by queue, and by name among equals whichever way", () => {
    expect([names({ sort: "queue", down: true }), names({ sort: "queue" })]).toEqual(["cbda", "adbc"]);
    const equal = [held("y", 1), held("x", 1), held("z", 1)];
    expect(viewOf(equal, view({ sort: "queue", down: true })).map(({ name }) => name)).toEqual(["x", "y", "z"]);
  });

  test("is sorted by the longest wait of each", () => {
    expect(names({ sort: "wait", down: true })).toBe("dbca");
  });

  test("is filtered by prefix and by kind", () => {
    expect([names({ prefix: "b" }), names({ kind: "semaphore" }), names({ prefix: "b", kind: "semaphore" })]).toEqual(["b", "d", ""]);
  });

  test("leaves the rows it was given alone", () => {
    viewOf(ROWS, view({ down: true }));
    expect(ROWS.map(({ name }) => name).join("")).toBe("bacd");
  });

  test("a click sorts the largest first, names the smallest, and a second click turns it round", () => {
    const byAge = sortedBy(view(), "age");
    expect(byAge).toMatchObject({ sort: "age", down: true });
    expect(sortedBy(byAge, "age")).toMatchObject({ sort: "age", down: false });
    expect(sortedBy(byAge, "name")).toMatchObject({ sort: "name", down: false });
    expect(sortedBy(byAge, "fence")).toBe(byAge);
  });
});

describe("the summary", () => {
  test("counts what is held and who waits, and finds the oldest and the most contended", () => {
    const summary = summaryOf(new Map(ROWS.map((one) => [one.name, one])), 2);
    expect(summary).toMatchObject({ held: 3, waiters: 6 });
    expect(summary.oldest.map(({ name }) => name)).toEqual(["a", "c"]);
    expect(summary.contended.map(({ name }) => name)).toEqual(["c", "b"]);
  });

  test("has the same few as sorting all of them would", () => {
    const many = Array.from({ length: 200 }, (_, i) => held(`n${i}`, (i * 7919) % 1009));
    const sorted = viewOf(many, view({ sort: "age", down: true }));
    expect(top(many, 5, (one) => -(one.holders[0]?.since ?? 0)).map(({ name }) => name)).toEqual(sorted.slice(0, 5).map(({ name }) => name));
    expect(top(many, 5, () => null)).toEqual([]);
  });
});
