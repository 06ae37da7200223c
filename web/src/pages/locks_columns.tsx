// SPDX-License-Identifier: Apache-2.0
import { LeaseBar } from "../parts/lease_bar";
import { Name } from "../parts/name";
import { Ago } from "../parts/time";
import type { Column } from "../parts/virtual_table";
import { Who } from "../parts/who";
import type { Held, Row } from "../state/row";
import { heldSince, waitingSince } from "../state/view";
import { ticking } from "../text/duration";
import { kindTitle } from "../text/kinds";
import { count } from "../text/number";
import { utcTime } from "../text/time";

/** The lease that ends next, of several. */
export function nextToEnd(row: Row): Held | undefined {
  return row.holders.reduce<Held | undefined>((first, held) => {
    if (first === undefined) return held;
    return (held.expires_at ?? Infinity) < (first.expires_at ?? Infinity) ? held : first;
  }, undefined);
}

function Holders({ row }: { row: Row }) {
  const first = row.holders[0];
  if (first === undefined) return <span class="dim">nobody</span>;
  const more = row.holders.length - 1;
  return (
    <span class="holders">
      <Who said={first} />
      {more > 0 ? <span class="tag">+{more} more</span> : null}
      {first.claimed ? <span class="tag claim">not yet confirmed</span> : null}
    </span>
  );
}

function Since({ row, now }: { row: Row; now: number }) {
  const since = heldSince(row);
  if (since === null) return <span class="dim">–</span>;
  const at = row.holders.find((held) => held.since === since)?.acquired_at;
  return (
    <span title={at === undefined ? undefined : `since ${utcTime(at) ?? at}`}>
      <Ago ms={now - since} />
    </span>
  );
}

function Lease({ row, now }: { row: Row; now: number }) {
  const held = nextToEnd(row);
  if (held === undefined) return <span class="dim">–</span>;
  return <LeaseBar remaining={held.expires_at === null ? null : held.expires_at - now} span={held.span} />;
}

function Queue({ row }: { row: Row }) {
  return row.waiters.length === 0 ? <span class="dim">0</span> : <strong class="queue">{count(row.waiters.length)}</strong>;
}

function LongestWait({ row, now }: { row: Row; now: number }) {
  const since = waitingSince(row);
  return since === null ? <span class="dim">–</span> : <Ago ms={now - since} />;
}

function kindText(row: Row): string {
  return row.capacity !== null && row.kind === "semaphore" ? `semaphore ${row.capacity}` : kindTitle(row.kind);
}

export const LOCK_COLUMNS: readonly Column<Row>[] = [
  { key: "name", title: "Name", track: "minmax(180px, 2.2fr)", sortable: true, render: (row) => <Name name={row.name} link untabbed /> },
  { key: "kind", title: "Kind", track: "118px", render: (row) => <span class="dim">{kindText(row)}</span> },
  { key: "holders", title: "Holders", track: "minmax(200px, 2.6fr)", render: (row) => <Holders row={row} /> },
  { key: "age", title: "Held for", track: "92px", numeric: true, sortable: true, render: (row, now) => <Since row={row} now={now} /> },
  { key: "fence", title: "Fence", track: "150px", numeric: true, render: (row) => <span class="mono dim">{row.holders[0]?.fence ?? "–"}</span> },
  { key: "lease", title: "Lease left", track: "minmax(150px, 1.1fr)", render: (row, now) => <Lease row={row} now={now} /> },
  { key: "queue", title: "Queue", track: "76px", numeric: true, sortable: true, render: (row) => <Queue row={row} /> },
  { key: "wait", title: "Longest wait", track: "116px", numeric: true, sortable: true, render: (row, now) => <LongestWait row={row} now={now} /> },
];

/** A lock at phone width: its name and queue, then its holder and lease. */
export function lockCard(row: Row, now: number) {
  const since = heldSince(row);
  return (
    <>
      <div class="card-line">
        <Name name={row.name} link untabbed />
        {row.waiters.length > 0 ? <span class="queue">{count(row.waiters.length)} waiting</span> : <span class="dim">{kindText(row)}</span>}
      </div>
      <div class="card-line small">
        <Holders row={row} />
        <span class="card-lease">
          {since === null ? null : <span class="dim">{ticking(now - since)}</span>}
          <Lease row={row} now={now} />
        </span>
      </div>
    </>
  );
}
