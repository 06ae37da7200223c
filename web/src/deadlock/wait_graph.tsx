// SPDX-License-Identifier: Apache-2.0
import { useId, useMemo, useRef } from "preact/hooks";
import type { DeadlockMember } from "../api/types";
import { Name } from "../parts/name";
import { short } from "../text/duration";
import { useWidth } from "../timeline/use_width";
import { layout, NARROW, victimOf, WIDE, type Box, type Graph, type GraphNode } from "./layout";
import "./wait_graph.css";
import { memberSentence } from "./words";

function Edges({ graph, id }: { graph: Graph; id: string }) {
  return (
    <svg class="wait-edges" width={graph.width} height={graph.height} aria-hidden="true">
      <defs>
        {(["holds", "waits"] as const).map((kind) => (
          <marker key={kind} id={`${id}${kind}`} viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
            <path class={`tip ${kind}`} d="M 0 0.5 L 10 5 L 0 9.5 Z" />
          </marker>
        ))}
      </defs>
      {graph.edges.map((edge) => <path key={`${edge.kind} ${edge.from} ${edge.to}`} class={`edge ${edge.kind}`} d={edge.path} marker-end={`url(#${id}${edge.kind})`} />)}
    </svg>
  );
}

function Node({ node, box, waits, isVictim }: { node: GraphNode; box: Box; waits: string | null; isVictim: boolean }) {
  const style = { left: `${node.x - box.width / 2}px`, top: `${node.y - box.height / 2}px`, width: `${box.width}px`, height: `${box.height}px` };
  if (node.kind === "lock") {
    return <div class="wait-node" style={style}><span class="lock"><Name name={node.label} link /></span></div>;
  }
  return (
    <div class="wait-node" style={style}>
      <span class={isVictim ? "owner victim" : "owner"}>
        <Name name={node.label} />
        <span class="since">{isVictim ? "shortest: " : "waits "}{waits}</span>
      </span>
    </div>
  );
}

/** Who waits for whom. The drawing is for the eye; the list below says the same. */
export function WaitGraph({ members }: { members: readonly DeadlockMember[] }) {
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const box = width > 0 && width < 460 ? NARROW : WIDE;
  const graph = useMemo(() => layout(members, box), [members, box]);
  const victim = members[victimOf(members)];
  const waits = new Map(members.map((member) => [member.who, short(member.waiting_ms)]));
  return (
    <div class="wait-graph">
      <div ref={host} class="wait-field">
        <div class="wait-drawing" style={{ width: `${graph.width}px`, height: `${graph.height}px` }}>
          <Edges graph={graph} id={id} />
          {graph.nodes.map((node) => <Node key={node.id} node={node} box={box} waits={waits.get(node.label) ?? null} isVictim={node.kind === "owner" && node.label === victim?.who} />)}
        </div>
        <p class="wait-key dim">
          <span class="key holds">lock → its holder</span>
          <span class="key waits">owner → what it waits for</span>
        </p>
      </div>
      <ul class="wait-words">
        {members.map((member) => <li key={`${member.who} ${member.waits_for}`}><bdi>{memberSentence(member)}</bdi></li>)}
      </ul>
    </div>
  );
}
