// SPDX-License-Identifier: Apache-2.0
//
// Where the owners and locks of a deadlock are drawn: around an oval, in the order in which they
// wait for each other, so that the arrows of a simple circle never cross.
import type { DeadlockMember } from "../api/types";

export interface GraphNode {
  id: string;
  kind: "owner" | "lock";
  label: string;
  /** The middle. */
  x: number;
  y: number;
}

export interface GraphEdge {
  from: string;
  to: string;
  /** A lock points to who holds it, an owner to what it waits for. */
  kind: "holds" | "waits";
  /** A path of SVG, from border to border. */
  path: string;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  width: number;
  height: number;
}

export interface Box {
  width: number;
  height: number;
  /** Between two boxes, at least. */
  gap: number;
}

export const WIDE: Box = { width: 184, height: 46, gap: 36 };
export const NARROW: Box = { width: 126, height: 46, gap: 24 };

type Link = Omit<GraphEdge, "path">;

interface Point {
  x: number;
  y: number;
}

const ownerId = (who: string): string => `owner ${who}`;
const lockId = (name: string): string => `lock ${name}`;

/** The member that waits shortest: it loses least. -1 where there is none. */
export function victimOf(members: readonly DeadlockMember[]): number {
  let victim = -1;
  members.forEach((member, index) => {
    if (victim < 0 || member.waiting_ms < (members[victim]?.waiting_ms ?? 0)) victim = index;
  });
  return victim;
}

function linksOf(members: readonly DeadlockMember[]): Link[] {
  const links = new Map<string, Link>();
  const add = (from: string, to: string, kind: Link["kind"]) => links.set(`${kind} ${from} ${to}`, { from, to, kind });
  for (const member of members) {
    add(ownerId(member.who), lockId(member.waits_for), "waits");
    for (const name of member.holds) add(lockId(name), ownerId(member.who), "holds");
  }
  return [...links.values()];
}

/** Follows the arrows from the first owner on, and begins anew wherever they lead nowhere new. */
function walk(links: readonly Link[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of links) {
    next.set(from, [...(next.get(from) ?? []), to]);
    if (!next.has(to)) next.set(to, []);
  }
  const order = new Set<string>();
  for (const start of next.keys()) {
    const stack = [start];
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (order.has(id)) continue;
      order.add(id);
      stack.push(...[...(next.get(id) ?? [])].reverse().filter((to) => !order.has(to)));
    }
  }
  return [...order];
}

/** One at the top, one at the bottom, and two sides that bulge; equal steps down each side. */
function places(count: number, box: Box): { points: Point[]; width: number; height: number } {
  const right = Math.ceil(Math.max(0, count - 2) / 2);
  const left = Math.max(0, count - 2 - right);
  const least = (box.width + box.gap) / 2;
  const bulge = least + box.gap * 0.75;
  const height = (right + 1) * (box.height + box.gap) * (count > 3 ? 1 : 1.2);
  const side = (steps: number, step: number, sign: number): Point => {
    const y = (height * step) / (steps + 1);
    const round = Math.sqrt(Math.max(0, 1 - (1 - (2 * y) / height) ** 2));
    return { x: sign * Math.max(least, bulge * round), y };
  };
  const points: Point[] = [{ x: 0, y: 0 }];
  for (let step = 1; step <= right; step += 1) points.push(side(right, step, 1));
  if (count > 1) points.push({ x: 0, y: height });
  for (let step = left; step >= 1; step -= 1) points.push(side(left, step, -1));
  const width = 2 * bulge + box.width;
  const moved = points.slice(0, count).map(({ x, y }) => ({ x: x + width / 2, y: y + box.height / 2 }));
  return { points: moved, width, height: (count > 1 ? height : 0) + box.height };
}

/** Where the line from the middle of a box towards `to` leaves it. */
function border(from: Point, to: Point, box: Box): Point {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const share = Math.min(dx === 0 ? Infinity : box.width / 2 / Math.abs(dx), dy === 0 ? Infinity : box.height / 2 / Math.abs(dy), 1);
  return { x: from.x + dx * share, y: from.y + dy * share };
}

/** Which way an arrow bends: away from the one that comes back, or inwards past the nodes between its ends. */
function bend(from: Point, to: Point, centre: Point, steps: number, comesBack: boolean): Point {
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  if (comesBack) {
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    return { x: middle.x - ((to.y - from.y) / length) * 34, y: middle.y + ((to.x - from.x) / length) * 34 };
  }
  if (steps <= 1) return middle;
  return { x: middle.x + (centre.x - middle.x) * 1.5, y: middle.y + (centre.y - middle.y) * 0.4 };
}

const rounded = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`;

export function layout(members: readonly DeadlockMember[], box: Box = WIDE): Graph {
  const links = linksOf(members);
  const order = walk(links);
  const { points, width, height } = places(order.length, box);
  const at = new Map(order.map((id, index) => [id, { index, point: points[index] ?? { x: 0, y: 0 } }]));
  const taken = new Set(links.map(({ from, to }) => `${from} ${to}`));
  const edges = links.map((link): GraphEdge => {
    const from = at.get(link.from) ?? { index: 0, point: { x: 0, y: 0 } };
    const to = at.get(link.to) ?? from;
    const apart = Math.abs(from.index - to.index);
    const control = bend(from.point, to.point, { x: width / 2, y: height / 2 }, Math.min(apart, order.length - apart), taken.has(`${link.to} ${link.from}`));
    const begin = border(from.point, control, box);
    const end = border(to.point, control, box);
    return { ...link, path: `M ${rounded(begin)} Q ${rounded(control)} ${rounded(end)}` };
  });
  const nodes = order.map((id, index): GraphNode => {
    const isOwner = id.startsWith("owner ");
    const { x, y } = points[index] ?? { x: 0, y: 0 };
    return { id, kind: isOwner ? "owner" : "lock", label: id.slice(isOwner ? 6 : 5), x, y };
  });
  return { nodes, edges, width, height };
}
