// SPDX-License-Identifier: Apache-2.0
import type { AuditEntry } from "../api/types";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { Time } from "../parts/time";
import { useApp } from "../state/context";
import { useFetched } from "../state/fetched";
import { may, roleOf } from "../state/session";

const SHOWN = 20;
const EVERY_MS = 10_000;

function Entry({ entry }: { entry: AuditEntry }) {
  return (
    <tr>
      <td data-label="when"><Time at={entry.at} /></td>
      <td data-label="what" class={entry.what === "forced" || entry.what === "lost" ? "bad" : ""}>{entry.what}</td>
      <td data-label="who">{entry.principal === undefined ? <span class="dim">–</span> : <Name name={entry.principal} />}{entry.client === undefined ? null : <span class="dim"> from <Name name={entry.client} /></span>}</td>
      <td data-label="fence" class="mono">{entry.fence ?? "–"}</td>
      <td data-label="why" class="lock-reason">{entry.reason === undefined ? <span class="dim">–</span> : <Name name={entry.reason} />}</td>
    </tr>
  );
}

/** `turn` changes when something was done here that the trail must show. */
function Entries({ name, turn }: { name: string; turn: number }) {
  const { api } = useApp();
  const { data, problem, reload } = useFetched((signal) => api.audit({ prefix: name, limit: SHOWN }, signal), [api, name, turn], EVERY_MS);
  const entries = data?.entries.filter((entry) => entry.name === name) ?? [];
  return (
    <>
      <ProblemNote problem={problem} onRetry={reload} />
      {entries.length === 0 ? (
        <p class="body dim">{data === null ? "Loading…" : "None of the newest entries is about this lock. What others do to the store without this server is not in its audit trail."}</p>
      ) : (
        <div class="scroll-x">
          <table class="lock-table">
            <thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Who</th><th scope="col">Fence</th><th scope="col">Why</th></tr></thead>
            <tbody>{entries.map((entry) => <Entry key={entry.seq} entry={entry} />)}</tbody>
          </table>
        </div>
      )}
    </>
  );
}

export function LockAudit({ name, turn }: { name: string; turn: number }) {
  const { session } = useApp();
  return (
    <section class="card" aria-labelledby="lock-audit">
      <header><h2 id="lock-audit">Audit trail</h2></header>
      {may(session, "admin") ? <Entries name={name} turn={turn} /> : (
        <p class="body dim">Who did what to this lock is for admins: it needs a token with the verb “admin”{session.me === null ? "" : `, and yours is ${roleOf(session.me)}`}.</p>
      )}
    </section>
  );
}
