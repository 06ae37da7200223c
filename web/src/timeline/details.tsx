// SPDX-License-Identifier: Apache-2.0
import { Name } from "../parts/name";
import { visible } from "../text/names";
import { utcTime } from "../text/time";
import { MARK_WORDS, moment, spanEnd, spanVerb } from "./describe";
import type { Target } from "./hit";
import { ownerLabel, ownerMore } from "./owners";

function Moment({ time, now }: { time: number; now: number }) {
  const iso = new Date(time).toISOString();
  return <time dateTime={iso} title={utcTime(iso) ?? ""}>{moment(time, now)}</time>;
}

function Facts({ target, now }: { target: Target; now: number }) {
  if (target.kind === "mark") {
    const { mark } = target;
    return (
      <>
        <span class="strong">{MARK_WORDS[mark.type]}</span>{" "}
        {mark.principal === null || mark.type !== "forced" ? null : <span>by <Name name={mark.principal} /></span>}{" "}
        <Moment time={mark.at} now={now} />{" "}
        {mark.fence === null ? null : <span class="mono">fence {mark.fence}</span>}{" "}
        {mark.reason === null || mark.reason === "" ? null : <bdi class="reason">“{visible(mark.reason)}”</bdi>}
      </>
    );
  }
  const { span } = target;
  const end = spanEnd(span);
  return (
    <>
      <span class="strong">{spanVerb(span, now)}</span>{" "}
      <span>
        {span.begin_known ? null : "before "}
        <Moment time={span.begin} now={now} /> – {span.outcome === "open" ? "now" : <Moment time={span.end} now={now} />}
      </span>{" "}
      {span.fence === null ? null : <span class="mono">fence {span.fence}</span>}{" "}
      {span.mode === "shared" ? <span>shared</span> : null}{" "}
      {end === "" ? null : <bdi class="reason">{end}</bdi>}
    </>
  );
}

/** One line of its own, always there, so that nothing moves when one points at something. */
export function Details({ target, now, hint }: { target: Target | null; now: number; hint: string }) {
  if (target === null) return <p class="timeline-details dim">{hint}</p>;
  const more = target.lane === null ? "" : ownerMore(target.lane.owner);
  return (
    <p class="timeline-details">
      {target.lane === null ? <span class="strong">the lock</span> : <span class="who strong"><Name name={ownerLabel(target.lane.owner)} /></span>}{" "}
      <Facts target={target} now={now} />{" "}
      {more === "" ? null : <span class="dim more"><Name name={more} /></span>}
    </p>
  );
}
