// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { DeadlockMember } from "../src/api/types";
import { layout, NARROW, victimOf, WIDE, type Box, type Graph } from "../src/deadlock/layout";
import { memberSentence } from "../src/deadlock/words";

/** Each holds a lock and waits for that of the next one. */
function circle(count: number): DeadlockMember[] {
  return Array.from({ length: count }, (_, i) => ({
    who: `web-${i}:${4000 + i}`, holds: [`lock-${i}`], waits_for: `lock-${(i + 1) % count}`, waiting_ms: 1000 * (count - i),
  }));
}

function overlaps({ nodes }: Graph, box: Box): [string, string][] {
  return nodes.flatMap((a, i) => nodes.slice(i + 1)
    .filter((b) => Math.abs(a.x - b.x) < box.width + 8 && Math.abs(a.y - b.y) < box.height + 8)
    .map((b): [string, string] => [a.id, b.id]));
}

type Point = readonly [number, number];

function cross(a: Point, b: Point, c: Point): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

function crossings(graph: Graph): number {
  const at = new Map(graph.nodes.map((node) => [node.id, [node.x, node.y] as Point]));
  const origin: Point = [0, 0];
  const lines = graph.edges.map((edge) => ({ edge, a: at.get(edge.from) ?? origin, b: at.get(edge.to) ?? origin }));
  return lines.flatMap((one, i) => lines.slice(i + 1).filter((other) => {
    const shared = new Set([one.edge.from, one.edge.to, other.edge.from, other.edge.to]).size < 4;
    return !shared && cross(one.a, one.b, other.a) * cross(one.a, one.b, other.b) < 0 && cross(other.a, other.b, one.a) * cross(other.a, other.b, one.b) < 0;
  })).length;
}

const sizes = Array.from({ length: 11 }, (_, i) => i + 2);

describe("a simple circle", () => {
  it.each(sizes)("of %i members has a node for each owner and lock, and none overlap", (count) => {
    for (const box of [WIDE, NARROW]) {
      const graph = layout(circle(count), box);
      expect(graph.nodes).toHaveLength(2 * count);
      expect(graph.edges).toHaveLength(2 * count);
      expect(overlaps(graph, box)).toEqual([]);
    }
  });

  it.each(sizes)("of %i members has no arrows that cross", (count) => {
    expect(crossings(layout(circle(count)))).toBe(0);
  });

  it.each(sizes)("of %i members is drawn within its bounds", (count) => {
    const { nodes, width, height } = layout(circle(count));
    for (const node of nodes) {
      expect(node.x - WIDE.width / 2).toBeGreaterThanOrEqual(-0.01);
      expect(node.x + WIDE.width / 2).toBeLessThanOrEqual(width + 0.01);
      expect(node.y - WIDE.height / 2).toBeGreaterThanOrEqual(-0.01);
      expect(node.y + WIDE.height / 2).toBeLessThanOrEqual(height + 0.01);
    }
  });

  it("follows the arrows around", () => {
    expect(layout(circle(2)).nodes.map((node) => node.label)).toEqual(["web-0:4000", "lock-1", "web-1:4001", "lock-0"]);
  });

  it("fits a telephone", () => {
    expect(layout(circle(4), NARROW).width).toBeLessThanOrEqual(324);
  });
});

describe("arrows", () => {
  it("lead from a lock to its holder and from an owner to what it waits for", () => {
    const { edges } = layout([{ who: "a:1", holds: ["x"], waits_for: "y", waiting_ms: 1 }, { who: "b:2", holds: ["y"], waits_for: "x", waiting_ms: 2 }]);
    expect(edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`).sort()).toEqual([
      "lock x holds owner a:1", "lock y holds owner b:2", "owner a:1 waits lock y", "owner b:2 waits lock x",
    ]);
  });

  it("two that lead to and fro are kept apart", () => {
    const { edges, nodes } = layout([{ who: "a", holds: ["x"], waits_for: "x", waiting_ms: 1 }, { who: "b", holds: ["x"], waits_for: "x", waiting_ms: 2 }]);
    expect(nodes).toHaveLength(3);
    expect(new Set(edges.map((edge) => edge.path)).size).toBe(4);
    const there = edges.find((edge) => edge.from === "owner a")?.path.split(" Q ")[1];
    const back = edges.find((edge) => edge.to === "owner a")?.path.split(" Q ")[1];
    expect(there?.split(" ").slice(0, 2)).not.toEqual(back?.split(" ").slice(0, 2));
  });
});

describe("other shapes", () => {
  it("circles that share owners and locks are one graph without overlaps", () => {
    const members = [...circle(3), { who: "web-0:4000", holds: ["lock-0", "extra"], waits_for: "other", waiting_ms: 5 }, { who: "z:9", holds: ["other"], waits_for: "extra", waiting_ms: 6 }];
    const graph = layout(members);
    expect(new Set(graph.nodes.map((node) => node.id)).size).toBe(graph.nodes.length);
    expect(graph.nodes).toHaveLength(3 + 3 + 1 + 2);
    expect(overlaps(graph, WIDE)).toEqual([]);
  });

  it("an owner and a lock of the same name are two nodes", () => {
    expect(layout([{ who: "x", holds: [], waits_for: "x", waiting_ms: 1 }]).nodes.map((node) => node.kind)).toEqual(["owner", "lock"]);
  });

  it("nothing is drawn of nobody", () => {
    expect(layout([])).toMatchObject({ nodes: [], edges: [] });
  });

  it("numbers are finite whatever the shape", () => {
    for (let count = 1; count <= 7; count += 1) {
      const graph = layout(circle(count).slice(0, Math.ceil(count / 2)));
      expect(graph.nodes.every((node) => Number.isFinite(node.x) && Number.isFinite(node.y))).toBe(true);
      expect(graph.edges.map((edge) => edge.path).join(" ")).not.toContain("NaN");
    }
  });
});

describe("the victim", () => {
  it("is the one that waits shortest", () => {
    expect(victimOf(circle(3))).toBe(2);
    expect(victimOf([])).toBe(-1);
  });
});

describe("a member in words", () => {
  it("says what it holds, what it waits for, and since when", () => {
    expect(memberSentence({ who: "web-1:4711", holds: ["a"], waits_for: "b", waiting_ms: 4000 })).toBe("web-1:4711 holds a, waits for b since 4.0s");
    expect(memberSentence({ who: "x", holds: ["a", "b", "c"], waits_for: "d", waiting_ms: 90_000 })).toBe("x holds a, b and c, waits for d since 1m 30s");
    expect(memberSentence({ who: "x", holds: [], waits_for: "d", waiting_ms: 10 })).toBe("x waits for d since 10ms");
  });

  it("spells out what cannot be seen", () => {
    expect(memberSentence({ who: "a\u202eb", holds: [], waits_for: "c\nd", waiting_ms: 0 })).toContain("a\\u202eb waits for c\\nd");
  });
});
