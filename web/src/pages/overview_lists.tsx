// SPDX-License-Identifier: Apache-2.0
import { LeaseBar } from "../parts/lease_bar";
import { Name } from "../parts/name";
import { Ago } from "../parts/time";
import { Who } from "../parts/who";
import { useNow } from "../state/context";
import type { Row } from "../state/row";
import { heldSince, waitingSince } from "../state/view";
import { count } from "../text/number";
import { nextToEnd } from "./locks_columns";

/** The five that have been held longest. */
export function Oldest({ rows }: { rows: readonly Row[] }) {
  const now = useNow(500);
  return (
    <section class="card numbers" aria-label="Held longest">
      <header>
        <h2>Held longest</h2>
        <a href="#/locks">All locks</a>
      </header>
      {rows.length === 0 ? <p class="body dim">Nobody holds a lock.</p> : null}
      <ul class="lines">
        {rows.map((row) => {
          const held = nextToEnd(row);
          return (
            <li key={row.name}>
              <Name name={row.name} link />
              <span class="dim">{row.holders[0] === undefined ? null : <Who said={row.holders[0]} brief />}</span>
              <span class="number">
                <Ago ms={now - (heldSince(row) ?? now)} />
              </span>
              <LeaseBar remaining={held?.expires_at == null ? null : held.expires_at - now} span={held?.span ?? 0} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The five for which most are waiting now. */
export function Contended({ rows }: { rows: readonly Row[] }) {
  const now = useNow(500);
  return (
    <section class="card numbers" aria-label="Most waiters">
      <header>
        <h2>Most waiters</h2>
        <a href="#/contention">Contention</a>
      </header>
      {rows.length === 0 ? <p class="body dim">Nobody waits for a lock.</p> : null}
      <ul class="lines">
        {rows.map((row) => (
          <li key={row.name}>
            <Name name={row.name} link />
            <span class="dim">{row.holders[0] === undefined ? "nobody holds it" : <Who said={row.holders[0]} brief />}</span>
            <span class="number queue">{count(row.waiters.length)} waiting</span>
            <span class="number dim">
              longest <Ago ms={now - (waitingSince(row) ?? now)} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
