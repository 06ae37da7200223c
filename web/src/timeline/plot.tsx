// SPDX-License-Identifier: Apache-2.0
import type { Ref } from "preact";
import { HOLD_HEIGHT, MARGIN, rowY, WAIT_HEIGHT } from "./geometry";
import { Glyph, Patterns } from "./glyphs";
import { idOf, type Target } from "./hit";
import { LaneShapes, type Scene } from "./lane_shapes";
import { markSentence } from "./describe";
import { toX } from "./scale";
import type { HandOver, Picture } from "./span";
import type { Tick } from "./ticks";

/** More than this is a thicket, in which nobody finds a way. */
const MOST_ARROWS = 200;
const LEAST_ARROW_DISTANCE = 5;

/** Of arrows that would cover each other, the first. */
function apart(handOvers: readonly HandOver[], x: (time: number) => number, width: number): HandOver[] {
  let last = -Infinity;
  return handOvers
    .filter((each) => x(each.begin) > -MARGIN && x(each.end) < width + MARGIN)
    .sort((a, b) => a.begin - b.begin)
    .filter((each) => {
      const at = x(each.begin);
      if (at - last < LEAST_ARROW_DISTANCE) return false;
      last = at;
      return true;
    });
}

function Arrows({ scene, picture }: { scene: Scene; picture: Picture }) {
  const x = (time: number): number => toX(scene.view, scene.width, time);
  const inView = apart(picture.hand_overs, x, scene.width);
  if (inView.length > MOST_ARROWS) return null;
  const path = (each: HandOver): string => {
    const from = rowY(scene.places, each.from, each.from_row, picture.lanes[each.from]?.rows ?? 1);
    const to = rowY(scene.places, each.to, each.to_row, picture.lanes[each.to]?.rows ?? 1);
    const down = to > from ? 1 : -1;
    const begin = from + (down * HOLD_HEIGHT) / 2;
    const end = to - (down * (HOLD_HEIGHT + 2)) / 2;
    const middle = (begin + end) / 2;
    return `M ${x(each.end).toFixed(1)} ${begin} C ${x(each.end).toFixed(1)} ${middle} ${x(each.begin).toFixed(1)} ${middle} ${x(each.begin).toFixed(1)} ${end}`;
  };
  return (
    <g class="hand-overs" aria-hidden="true">
      {inView.map((each) => <path key={each.id} class="hand-over" d={path(each)} marker-end={`url(#${scene.id}tip)`} />)}
    </g>
  );
}

/** A frame around what is pointed at, so that nothing else has to be drawn again for it. */
function Highlight({ scene, picture, target, kind }: { scene: Scene; picture: Picture; target: Target; kind: "hovered" | "selected" }) {
  const index = target.lane === null ? -1 : picture.lanes.indexOf(target.lane);
  if (index < 0) return null;
  const rows = picture.lanes[index]?.rows ?? 1;
  if (target.kind === "mark") {
    return <circle class={`highlight ${kind}`} cx={toX(scene.view, scene.width, target.mark.at)} cy={rowY(scene.places, index, target.mark.row, rows)} r="10" />;
  }
  const { span } = target;
  const height = (span.what === "held" ? HOLD_HEIGHT : WAIT_HEIGHT) + 6;
  const from = Math.max(toX(scene.view, scene.width, span.begin), -MARGIN);
  const to = span.outcome === "open" ? scene.width + MARGIN : Math.min(toX(scene.view, scene.width, span.end), scene.width + MARGIN);
  if (to < from) return null;
  return <rect class={`highlight ${kind}`} x={from - 3} y={rowY(scene.places, index, span.row, rows) - height / 2} width={Math.max(2, to - from) + 6} height={height} rx="5" />;
}

function Ground({ scene, picture, order }: { scene: Scene; picture: Picture; order: readonly string[] }) {
  return (
    <g aria-hidden="true">
      {picture.lanes.map((lane, i) => (
        <rect key={lane.key} class={order.indexOf(lane.key) % 2 === 0 ? "ground" : "ground odd"} x="0" y={scene.places.top[i] ?? 0} width={scene.width} height={scene.places.height[i] ?? 0} />
      ))}
    </g>
  );
}

export interface PlotProps {
  scene: Scene;
  picture: Picture;
  order: readonly string[];
  ticks: readonly Tick[];
  hovered: Target | null;
  selected: Target | null;
  /** What is shifted while the picture follows the present; the rest of it stands still. */
  moving: Ref<SVGSVGElement>;
  label: string;
}

/** Nothing is drawn beyond the present, although an open hold has no end yet. */
export function Plot({ scene, picture, order, ticks, hovered, selected, moving, label }: PlotProps) {
  const { id, width, places, view, now } = scene;
  const height = Math.max(places.total, 1);
  const x = (time: number): number => toX(view, width, time);
  const present = Math.min(Math.max(x(now), 0), width);
  return (
    <>
      <svg class="timeline-ground" width={width} height={height} aria-hidden="true"><Ground scene={scene} picture={picture} order={order} /></svg>
      <div class="timeline-past" style={{ width: `${present}px`, height: `${height}px` }}>
        <svg ref={moving} class="timeline-plot" width={width + MARGIN} height={height} role="group" aria-label={label}>
          <Patterns id={id} />
          <g aria-hidden="true">
            {ticks.map((tick) => <path key={tick.at} class={tick.major ? "grid major" : "grid"} d={`M ${x(tick.at).toFixed(1)} 0 V ${height}`} />)}
          </g>
          {picture.lanes.map((lane, i) => <LaneShapes key={lane.key} scene={scene} lane={lane} index={i} />)}
          <Arrows scene={scene} picture={picture} />
          {picture.marks.map((mark) => <path key={mark.id} class={`lock-mark ${mark.type}`} d={`M ${x(mark.at).toFixed(1)} 0 V ${height}`} />)}
          {selected === null ? null : <Highlight scene={scene} picture={picture} target={selected} kind="selected" />}
          {hovered === null || (selected !== null && idOf(hovered) === idOf(selected)) ? null : <Highlight scene={scene} picture={picture} target={hovered} kind="hovered" />}
        </svg>
      </div>
      {x(now) >= 0 && x(now) <= width ? <div class="now-line" aria-hidden="true" style={{ left: `${present}px` }} /> : null}
    </>
  );
}

export const AXIS_HEIGHT = 28;

export function Axis({ scene, picture, ticks, moving }: Pick<PlotProps, "scene" | "picture" | "ticks" | "moving">) {
  const x = (time: number): number => toX(scene.view, scene.width, time);
  const present = x(scene.now);
  const clock = (time: number): string => new Date(time).toLocaleTimeString();
  return (
    <>
      <svg ref={moving} class="timeline-scale" width={scene.width + MARGIN} height={AXIS_HEIGHT} role="group" aria-label={`From ${clock(scene.view.begin)} to ${clock(scene.view.end)}`}>
        {ticks.map((tick) => (
          <g key={tick.at} class={tick.major ? "tick major" : "tick"} transform={`translate(${x(tick.at).toFixed(1)} 0)`}>
            <path d={`M 0 ${AXIS_HEIGHT - 6} V ${AXIS_HEIGHT}`} />
            <text x="0" y={AXIS_HEIGHT - 11} text-anchor="middle">{tick.label}</text>
          </g>
        ))}
        {picture.marks.map((mark) => (
          <g key={mark.id} class="mark" role="img" aria-label={markSentence(null, mark, scene.now)} transform={`translate(${x(mark.at).toFixed(1)} ${AXIS_HEIGHT - 9})`}>
            <title>{markSentence(null, mark, scene.now)}</title>
            <Glyph type={mark.type} />
          </g>
        ))}
      </svg>
      {present >= 0 && present <= scene.width ? <div class="now-tip" aria-hidden="true" style={{ left: `${present}px` }} /> : null}
    </>
  );
}
