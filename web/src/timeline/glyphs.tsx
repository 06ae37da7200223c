// SPDX-License-Identifier: Apache-2.0
//
// Each mark has a shape of its own, so that nobody has to tell them apart by colour.
import "./shapes.css";
import type { MarkType } from "./span";

const PATHS: Record<Exclude<MarkType, "renewed">, string> = {
  // A cross.
  lost: "M -4 -4 L 4 4 M 4 -4 L -4 4",
  // A bolt.
  forced: "M 1.5 -6.5 L -4 1 L -0.5 1 L -1.5 6.5 L 4 -1.5 L 0.5 -1.5 Z",
  // An hourglass.
  expired: "M -4 -5 L 4 -5 L -4 5 L 4 5 Z",
  // Two that chase each other.
  deadlock: "M -4.5 1.2 A 4.6 4.6 0 0 1 3.2 -3.4 M 3.6 -6.2 L 3.6 -3 L 0.4 -3 M 4.5 -1.2 A 4.6 4.6 0 0 1 -3.2 3.4 M -3.6 6.2 L -3.6 3 L -0.4 3",
  // Back out.
  left: "M 4 -4 L -3.5 0 L 4 4 Z",
};

/** Around the point 0, 0. */
export function Glyph({ type }: { type: MarkType }) {
  if (type === "renewed") return <path class="glyph renewed" d="M 0 1 L 0 7" />;
  return (
    <>
      <circle class="glyph-ground" r="8" />
      <path class={`glyph ${type}`} d={PATHS[type]} />
    </>
  );
}

/** The patterns that waits and claims are filled with. */
export function Patterns({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={`${id}wait`} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="pattern-ground wait" width="5" height="5" />
        <rect class="pattern-ink wait" width="2" height="5" />
      </pattern>
      <pattern id={`${id}claim`} width="5" height="5" patternUnits="userSpaceOnUse">
        <rect class="pattern-ground claim" width="5" height="5" />
        <circle class="pattern-ink claim" cx="2.5" cy="2.5" r="1.4" />
      </pattern>
      <marker id={`${id}tip`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
        <path class="hand-over-tip" d="M 0 0.5 L 8 4 L 0 7.5 Z" />
      </marker>
    </defs>
  );
}
