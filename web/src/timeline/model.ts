// SPDX-License-Identifier: Apache-2.0
//
// The picture of one lock: a lane for each owner, its holds and waits, and who got it from whom.
import type { EventType, LockEvent } from "../api/types";
import type { Course, Told } from "./course";
import { Fold, type OwnedMark } from "./fold";
import { handOvers } from "./hand_overs";
import { LiveState } from "./live_state";
import { isFaceless, Owners } from "./owners";
import type { Grouping, Lane, LiveLock, Mark, Options, Picture, Span } from "./span";

export const MAX_LANES = 60;
const MAX_ROWS = 8;

const DRAWN: ReadonlySet<EventType> = new Set<EventType>([
  "acquired", "queued", "left", "renewed", "released", "expired", "lost", "forced", "deadlock",
]);

// A live picture is made anew several times a second, mostly of the same events.
const times = new WeakMap<LockEvent, number>();

function timeOf(event: LockEvent): number {
  let time = times.get(event);
  if (time === undefined) times.set(event, (time = Date.parse(event.at)));
  return time;
}

/** In the order in which they happened, each once, without what no picture can be made of. */
export function inOrder(events: readonly LockEvent[]): Told[] {
  const seen = new Set<number>();
  const kept: Told[] = [];
  for (const event of events) {
    const time = timeOf(event);
    if (!DRAWN.has(event.type) || !Number.isFinite(time) || seen.has(event.id)) continue;
    seen.add(event.id);
    kept.push({ ...event, time });
  }
  return kept.sort((a, b) => a.time - b.time || a.id - b.id);
}

function pack(lane: Lane): void {
  const ends: number[] = [];
  lane.spans.sort((a, b) => a.begin - b.begin || a.end - b.end);
  for (const span of lane.spans) {
    let row = ends.findIndex((end) => end <= span.begin);
    if (row < 0) row = Math.min(ends.length, MAX_ROWS - 1);
    span.row = row;
    ends[row] = Math.max(ends[row] ?? -Infinity, span.outcome === "open" ? Infinity : span.end);
  }
  lane.rows = Math.max(1, ends.length);
  const rowOf = new Map(lane.spans.filter((span) => span.fence !== null).map((span) => [span.fence, span.row]));
  for (const mark of lane.marks) {
    mark.row = rowOf.get(mark.fence) ?? lane.spans.findLast((span) => span.begin <= mark.at && span.end >= mark.at)?.row ?? 0;
  }
}

class Lanes {
  readonly #byKey = new Map<string, Lane>();
  readonly #counted = new Map<string, Set<string>>();

  constructor(private readonly owners: Owners, private readonly by: Grouping) {}

  addSpan(course: Course): void {
    const lane = this.#of(course.owner);
    lane.spans.push(course.span);
    lane.last = Math.max(lane.last, course.span.end);
    if (course.span.outcome === "open" && course.span.what === "held") lane.holds = true;
  }

  addMark(owner: string, mark: Mark): void {
    const lane = this.#of(owner);
    lane.marks.push(mark);
    lane.last = Math.max(lane.last, mark.at);
  }

  /** Whoever holds it, then the queue, then the others, those with the latest news first. */
  ordered(queue: readonly string[]): Lane[] {
    const place = new Map<string, number>();
    queue.forEach((owner, index) => {
      const key = this.owners.laneKey(owner, this.by);
      if (!place.has(key)) place.set(key, index + 1);
    });
    const all = [...this.#byKey.values()];
    for (const lane of all) {
      lane.position = lane.holds ? null : (place.get(lane.key) ?? null);
      pack(lane);
    }
    return all.sort((a, b) => Number(b.holds) - Number(a.holds) || (a.holds ? openSince(a) - openSince(b) : 0)
      || (a.position ?? Infinity) - (b.position ?? Infinity) || b.last - a.last || (a.key < b.key ? -1 : 1));
  }

  #of(owner: string): Lane {
    const key = this.owners.laneKey(owner, this.by);
    let lane = this.#byKey.get(key);
    if (lane === undefined) {
      lane = { key, owner: this.owners.owner(owner), owners: 0, spans: [], marks: [], rows: 1, holds: false, position: null, last: -Infinity };
      this.#byKey.set(key, lane);
      this.#counted.set(key, new Set());
    }
    const counted = this.#counted.get(key);
    counted?.add(owner);
    lane.owners = counted?.size ?? 1;
    return lane;
  }
}

function openSince(lane: Lane): number {
  return Math.min(...lane.spans.filter((span) => span.outcome === "open" && span.what === "held").map((span) => span.begin));
}

/** The live queue in its order, then those of whose waits only events tell. */
function queueOf(fold: Fold, owners: Owners, lock: LiveLock | null): string[] {
  const live = (lock?.waiters ?? []).map((waiter) => owners.keyOf(waiter));
  const told = fold.waits.filter(({ span }) => span.outcome === "open").sort((a, b) => a.span.begin - b.span.begin);
  const inLive = new Set(live);
  return [...live, ...told.map((wait) => wait.owner).filter((owner) => !inLive.has(owner))];
}

function extent(spans: readonly Span[], events: readonly Told[], now: number): [number, number] {
  let begin = Infinity;
  let end = now;
  for (const event of events) {
    begin = Math.min(begin, event.time);
    end = Math.max(end, event.time);
  }
  for (const span of spans) if (span.begin_known) begin = Math.min(begin, span.begin);
  return [Math.min(begin, end), end];
}

/**
 * What is kept often begins with the end of a hold of which nothing else is. Such a rest is worth no
 * lane of its own, unless there is nothing else.
 */
function withoutRests(courses: readonly Course[]): readonly Course[] {
  const kept = courses.filter(({ owner, span, isCutOff }) => !(isCutOff && span.outcome !== "open" && isFaceless(owner)));
  return kept.length === 0 ? courses : kept;
}

function assemble(fold: Fold, owners: Owners, by: Grouping): Lanes {
  const lanes = new Lanes(owners, by);
  const courses = withoutRests([...fold.holds, ...fold.waits]);
  const drawn = new Set(courses.map(({ owner }) => owner));
  for (const course of courses) lanes.addSpan(course);
  for (const { owner, mark } of fold.marks) if (owner !== null && (drawn.has(owner) || !isFaceless(owner))) lanes.addMark(owner, mark);
  return lanes;
}

const ofTheLock = (marks: readonly OwnedMark[]): Mark[] => marks.filter(({ owner }) => owner === null).map(({ mark }) => mark);

export function lanes(events: readonly LockEvent[], lock: LiveLock | null, now: number, options: Options = {}): Picture {
  const told = inOrder(events);
  const owners = new Owners(told, lock);
  const reentrant = (told.findLast((event) => event.kind !== undefined)?.kind ?? lock?.kind) === "reentrant";
  const fold = new Fold(reentrant);
  for (const event of told) fold.add(event, owners.key(event));
  if (lock !== null) new LiveState(fold, owners, options.seen_at ?? now, now, told.at(-1)?.time ?? now).merge(lock);
  const spans = [...fold.holds, ...fold.waits].map(({ span }) => span);
  const [begin, end] = extent(spans, told, now);
  for (const span of spans) {
    if (!span.begin_known) span.begin = Math.min(begin, span.end);
    if (span.outcome === "open") span.end = Math.max(span.begin, end);
  }
  const all = assemble(fold, owners, options.by ?? "owner").ordered(queueOf(fold, owners, lock));
  const drawn = all.slice(0, MAX_LANES);
  return { lanes: drawn, more: all.length - drawn.length, hand_overs: handOvers(drawn), marks: ofTheLock(fold.marks), begin, end };
}
