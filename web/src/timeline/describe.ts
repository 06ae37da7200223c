// SPDX-License-Identifier: Apache-2.0
//
// The picture in words: for the line below it, for screen readers and for the table.
import type { EventType } from "../api/types";
import { short } from "../text/duration";
import { visible } from "../text/names";
import { localTime } from "../text/time";
import { ownerLabel } from "./owners";
import type { Lane, Mark, MarkType, Outcome, Span } from "./span";

const ENDS: Record<Outcome, string> = {
  open: "",
  acquired: "then acquired it",
  left: "gave up",
  released: "released",
  expired: "its lease expired",
  lost: "lost",
  forced: "released by force",
  upgraded: "went on under a new fence",
  unseen: "its end was not seen",
};

export const MARK_WORDS: Record<MarkType, string> = {
  renewed: "renewed",
  lost: "lost",
  forced: "released by force",
  expired: "expired",
  deadlock: "deadlock found",
  left: "gave up waiting",
};

export const EVENT_WORDS: Record<EventType, string> = {
  acquired: "acquired",
  queued: "waits",
  left: "gave up",
  renewed: "renewed",
  released: "released",
  expired: "expired",
  lost: "lost",
  forced: "released by force",
  store_changed: "store changed",
  deadlock: "deadlock",
};

/** "14:02:11.250", with its day where that is not today. */
export function moment(time: number, now: number): string {
  const at = new Date(time);
  return `${localTime(at, new Date(now))}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

export function duration(span: Span, now: number): string {
  const length = short((span.outcome === "open" ? Math.max(now, span.begin) : span.end) - span.begin);
  return span.begin_known ? length : `more than ${length}`;
}

/** "held for 1.2s", "waits since 4s". */
export function spanVerb(span: Span, now: number): string {
  const isOpen = span.outcome === "open";
  const verb = span.what === "held" ? (isOpen ? "holds it for" : "held it for") : isOpen ? "waits for" : "waited for";
  return `${verb} ${duration(span, now)}`;
}

export function spanEnd(span: Span): string {
  if (span.outcome === "open") return span.claimed_until === null ? "" : "not yet confirmed by its owner";
  const reason = span.reason === null || span.reason === "" ? "" : `: ${visible(span.reason)}`;
  return ENDS[span.outcome] + reason;
}

export function spanSentence(lane: Lane, span: Span, now: number): string {
  const until = span.outcome === "open" ? "until now" : `to ${moment(span.end, now)}`;
  const parts = [
    `${visible(ownerLabel(lane.owner))} ${spanVerb(span, now)}`,
    `from ${moment(span.begin, now)} ${until}`,
    span.fence === null ? "" : `fence ${span.fence}`,
    span.mode === "shared" ? "shared" : "",
    spanEnd(span),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

export function markSentence(lane: Lane | null, mark: Mark, now: number): string {
  const who = lane === null ? "the lock" : visible(ownerLabel(lane.owner));
  const by = mark.type === "forced" && mark.principal !== null ? ` by ${visible(mark.principal)}` : "";
  const reason = mark.reason === null || mark.reason === "" ? "" : `: ${visible(mark.reason)}`;
  return `${who}: ${MARK_WORDS[mark.type]}${by} at ${moment(mark.at, now)}${reason}`;
}

/** What the picture shows, in one sentence. */
export function summary(lanes: readonly Lane[], more: number, handOvers: number): string {
  const holding = lanes.filter((lane) => lane.holds).length;
  const waiting = lanes.filter((lane) => lane.position !== null).length;
  const owners = lanes.length + more;
  return `${owners} ${owners === 1 ? "owner" : "owners"}, ${holding} holding, ${waiting} waiting, ${handOvers} hand-overs`;
}
