// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import type { LockEvent } from "../api/types";
import { Name } from "../parts/name";
import { short } from "../text/duration";
import { visible } from "../text/names";
import { counted } from "../text/number";
import { utcTime } from "../text/time";
import { EVENT_WORDS, moment } from "./describe";
import { ownerLabel, Owners } from "./owners";

const MOST_ROWS = 300;

function howLong(event: LockEvent): string {
  if (event.held_ms !== undefined) return `held ${short(event.held_ms)}`;
  if (event.waited_ms !== undefined && event.waited_ms > 0) return `waited ${short(event.waited_ms)}`;
  return "";
}

function Row({ event, owners }: { event: LockEvent; owners: Owners }) {
  const key = owners.key(event);
  return (
    <tr>
      <td><time dateTime={event.at} title={utcTime(event.at) ?? ""}>{moment(Date.parse(event.at), Date.now())}</time></td>
      <td>{EVENT_WORDS[event.type]}</td>
      <td class="cell-who">{key === null ? <span class="dim">–</span> : <Name name={ownerLabel(owners.owner(key))} />}</td>
      <td class="number mono">{event.fence ?? ""}</td>
      <td>{howLong(event)}</td>
      <td class="cell-reason"><bdi>{visible(event.reason ?? "")}</bdi>{event.source === "observed" ? <span class="dim"> seen on the store</span> : null}</td>
    </tr>
  );
}

function Rows({ events }: { events: readonly LockEvent[] }) {
  const owners = new Owners(events, null);
  const newest = [...events].sort((a, b) => b.id - a.id).slice(0, MOST_ROWS);
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Events, the newest first">
      <table>
        <thead>
          <tr><th scope="col">when</th><th scope="col">what</th><th scope="col">who</th><th scope="col" class="number">fence</th><th scope="col">how long</th><th scope="col">why</th></tr>
        </thead>
        <tbody>{newest.map((event) => <Row key={event.id} event={event} owners={owners} />)}</tbody>
      </table>
      {events.length > MOST_ROWS ? <p class="dim">The newest {MOST_ROWS} of {counted(events.length, "event")}.</p> : null}
    </div>
  );
}

/** The same as the picture, in words. Its rows are made only when somebody asks for them. */
export function EventsTable({ events, truncated }: { events: readonly LockEvent[]; truncated: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="timeline-table" onToggle={(event) => { setOpen(event.currentTarget.open); }}>
      <summary>{counted(events.length, "event")} as a table{truncated ? "; older ones are no longer kept" : ""}</summary>
      {isOpen ? <Rows events={events} /> : null}
    </details>
  );
}
