// SPDX-License-Identifier: Apache-2.0
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty";
import { counted } from "../text/number";
import { summary } from "./describe";
import { Details } from "./details";
import { EventsTable } from "./events_table";
import { MARGIN, placeLanes } from "./geometry";
import { idOf, targetAt, targetOf, type Target } from "./hit";
import { Labels } from "./labels";
import { Legend } from "./legend";
import { Axis, Plot } from "./plot";
import { spanOf, type View } from "./scale";
import type { Grouping, Picture } from "./span";
import "./below.css";
import "./timeline.css";
import { ticks, type Tick } from "./ticks";
import { Toolbar } from "./toolbar";
import { useControl } from "./use_control";
import { useGestures } from "./use_gestures";
import { useKeys } from "./use_keys";
import { useOrder } from "./use_order";
import { usePicture, type Seen } from "./use_picture";
import { useWidth } from "./use_width";

/** Events are told a few times a second. Drawn this much later, what is drawn is never taken back. */
const LAG_MS = 400;
const NARROW = 560;
const TICK_WIDTH = 86;

export interface TimelineProps extends Seen {
  /** There were older events, which are not kept. */
  truncated: boolean;
}

const HINT = "Point at something, or press Enter and the arrow keys, to read about it here.";
const SHORT_HINT = "Touch something to read about it here.";

function ticksOf(view: View, width: number): Tick[] {
  const more = 1 + MARGIN / Math.max(1, width);
  return ticks({ begin: view.begin, end: view.begin + spanOf(view) * more }, Math.max(2, (width * more) / TICK_WIDTH));
}

const orNull = (target: Target | null): string | null => (target === null ? null : idOf(target));

/** What the pointer is on, and what was chosen. */
function useTargets(picture: Picture) {
  const [hovered, setHovered] = useState<string | null>(null);
  const [selected, setSelected] = useState<string | null>(null);
  return { hovered: targetOf(picture, hovered), setHovered, selected: targetOf(picture, selected), setSelected };
}

export function TimelineView(props: TimelineProps) {
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLDivElement>(null);
  const moving = [useRef<SVGSVGElement>(null), useRef<SVGSVGElement>(null)] as const;
  const [by, setBy] = useState<Grouping>("process");
  const width = useWidth(plot);
  const isNarrow = useWidth(frame) < NARROW;
  const { picture, events, paused, fresh, toggle } = usePicture(props, by);
  const control = useControl({ picture, width, paused, frame, moving, clock: () => Date.now() + props.skew - LAG_MS });
  const order = useOrder(picture, by);
  const places = useMemo(() => placeLanes(picture.lanes, order, isNarrow), [picture, order, isNarrow]);
  const { hovered, setHovered, selected, setSelected } = useTargets(picture);
  useGestures(plot, axis, control);
  const onKeyDown = useKeys({ frame, picture, order, control, width, toggle, selected, select: setSelected });

  const { view, now } = control;
  const scene = { id, places, view, width, now };
  const marks = ticksOf(view, width);
  const text = summary(picture.lanes, picture.more, picture.hand_overs.length);
  const under = (event: MouseEvent): string | null => {
    const box = plot.current?.getBoundingClientRect();
    return box === undefined ? null : orNull(targetAt(picture, places, control.viewNow(), width, event.clientX - box.left, event.clientY - box.top));
  };
  const pointing = {
    onPointerMove: (event: PointerEvent) => { if (event.buttons === 0) setHovered(under(event)); },
    onPointerLeave: () => { setHovered(null); },
    onClick: (event: MouseEvent) => { setSelected(under(event)); },
  };
  return (
    <section class={isNarrow ? "timeline narrow" : "timeline"} aria-label="Timeline">
      <Toolbar control={control} paused={paused} fresh={fresh} toggle={toggle} by={by} setBy={setBy} />
      <div ref={frame} class="timeline-frame" tabIndex={0} role="group" aria-label={`Timeline: ${text}`} aria-describedby={`${id}keys`} onKeyDown={onKeyDown}>
        <div class="timeline-top">
          <div class="timeline-corner dim">{counted(picture.lanes.length + picture.more, by === "owner" ? "owner" : "lane")}</div>
          <div ref={axis} class="timeline-axis" title="Turn the wheel here to zoom"><Axis scene={scene} picture={picture} ticks={marks} moving={moving[0]} /></div>
        </div>
        <div class="timeline-body">
          <Labels picture={picture} places={places} />
          <div ref={plot} class="timeline-field" {...pointing}>
            <Plot scene={scene} picture={picture} order={order} ticks={marks} hovered={hovered} selected={selected} moving={moving[1]} label={text} />
          </div>
        </div>
        <Rest picture={picture} />
      </div>
      <p id={`${id}keys`} class="hidden-visually">Plus and minus zoom, arrow keys move, space pauses, 0 shows everything, Enter leads to the holds and waits, Escape back.</p>
      <Details target={hovered ?? selected} now={paused ? now : Date.now() + props.skew} hint={isNarrow ? SHORT_HINT : HINT} />
      <Legend id={id} />
      <EventsTable events={events} truncated={props.truncated} />
    </section>
  );
}

/** What there is besides lanes: too many of them, or none. */
function Rest({ picture }: { picture: Picture }) {
  if (picture.more > 0) return <p class="timeline-more dim">and {counted(picture.more, "more owner")}, who did something longer ago</p>;
  if (picture.lanes.length > 0 || picture.marks.length > 0) return null;
  return <Empty title="Nothing has happened here yet">What is done to this lock appears here at once.</Empty>;
}
