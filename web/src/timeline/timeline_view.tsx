// SPDX-License-Identifier: Apache-2.0
import { useId, useMemo, useRef, useState } from "preact/hooks";
import type { LockEvent } from "../api/types";
import { Empty } from "../parts/empty";
import { counted } from "../text/number";
import { summary } from "./describe";
import { Details } from "./details";
import { EventsTable } from "./events_table";
import { placeLanes } from "./geometry";
import { targetAt, targetOf, idOf } from "./hit";
import { Labels } from "./labels";
import { Legend } from "./legend";
import { lanes } from "./model";
import { Axis, Plot } from "./plot";
import type { Grouping, LiveLock } from "./span";
import "./timeline.css";
import { ticks } from "./ticks";
import { Toolbar } from "./toolbar";
import { useControl } from "./use_control";
import { useGestures } from "./use_gestures";
import { useKeys } from "./use_keys";
import { useOrder } from "./use_order";
import { useWidth } from "./use_width";

/** Events are told a few times a second. Drawn this much later, what is drawn is never taken back. */
const LAG_MS = 400;
const NARROW = 560;
const TICK_WIDTH = 86;

export interface TimelineProps {
  events: readonly LockEvent[];
  /** Who holds and waits; null where that is not known. */
  lock: LiveLock | null;
  /** When `lock` was read, by the server's clock. */
  seenAt: number;
  /** What to add to this browser's clock to get the server's, in milliseconds. */
  skew: number;
  /** There were older events, which are not kept. */
  truncated: boolean;
}

interface Seen {
  events: readonly LockEvent[];
  lock: LiveLock | null;
  seenAt: number;
}

/** What is drawn: the newest, or what was the newest when somebody stopped it. */
function useFreeze(latest: Seen): { seen: Seen; paused: boolean; fresh: number; toggle: () => void } {
  const [frozen, setFrozen] = useState<Seen | null>(null);
  const last = frozen?.events.reduce((id, event) => Math.max(id, event.id), 0) ?? 0;
  const fresh = frozen === null ? 0 : latest.events.filter((event) => event.id > last).length;
  return { seen: frozen ?? latest, paused: frozen !== null, fresh, toggle: () => { setFrozen(frozen === null ? latest : null); } };
}

const HINT = "Point at something, or press Enter and the arrow keys, to read about it here.";
const SHORT_HINT = "Touch something to read about it here.";

export function TimelineView({ events, lock, seenAt, skew, truncated }: TimelineProps) {
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLDivElement>(null);
  const moving = [useRef<SVGSVGElement>(null), useRef<SVGSVGElement>(null)] as const;
  const [by, setBy] = useState<Grouping>("process");
  const [hoveredId, setHovered] = useState<string | null>(null);
  const [selectedId, setSelected] = useState<string | null>(null);
  const { seen, paused, fresh, toggle } = useFreeze({ events, lock, seenAt });
  const width = useWidth(plot);
  const isNarrow = useWidth(frame) < NARROW;

  const picture = useMemo(
    () => lanes(seen.events, seen.lock, Date.now() + skew, { by, seen_at: seen.seenAt }),
    [seen.events, seen.lock, seen.seenAt, by],
  );
  const control = useControl({
    picture, width, paused, frame, moving, clock: () => Date.now() + skew - LAG_MS,
  });
  const order = useOrder(picture, by);
  const places = useMemo(() => placeLanes(picture.lanes, order, isNarrow), [picture, order, isNarrow]);
  const { view, now } = control;
  const scene = { id, places, view, width, now };
  const marks = ticks({ begin: view.begin, end: view.end + (view.end - view.begin) / 8 }, Math.max(2, (width * 1.125) / TICK_WIDTH));
  const hovered = targetOf(picture, hoveredId);
  const selected = targetOf(picture, selectedId);

  useGestures(plot, axis, control);
  const onKeyDown = useKeys({ frame, picture, order, control, width, toggle, selected, select: setSelected });

  const under = (event: MouseEvent) => {
    const box = plot.current?.getBoundingClientRect();
    return box === undefined ? null : targetAt(picture, places, control.viewNow(), width, event.clientX - box.left, event.clientY - box.top);
  };
  const isEmpty = picture.lanes.length === 0 && picture.marks.length === 0;
  const text = summary(picture.lanes, picture.more, picture.hand_overs.length);
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
          <div
            ref={plot}
            class="timeline-field"
            onPointerMove={(event) => { if (event.buttons === 0) setHovered(orNull(under(event))); }}
            onPointerLeave={() => { setHovered(null); }}
            onClick={(event) => { setSelected(orNull(under(event))); }}
          >
            <Plot scene={scene} picture={picture} order={order} ticks={marks} hovered={hovered} selected={selected} moving={moving[1]} label={text} />
          </div>
        </div>
        {picture.more > 0 ? <p class="timeline-more dim">and {picture.more} more owners, who did something longer ago</p> : null}
        {isEmpty ? <Empty title="Nothing has happened here yet">What is done to this lock appears here at once.</Empty> : null}
      </div>
      <p id={`${id}keys`} class="hidden-visually">Plus and minus zoom, arrow keys move, space pauses, 0 shows everything, Enter leads to the holds and waits, Escape back.</p>
      <Details target={hovered ?? selected} now={paused ? now : Date.now() + skew} hint={isNarrow ? SHORT_HINT : HINT} />
      <Legend id={id} />
      <EventsTable events={seen.events} truncated={truncated} />
    </section>
  );
}

function orNull(target: ReturnType<typeof targetOf>): string | null {
  return target === null ? null : idOf(target);
}
