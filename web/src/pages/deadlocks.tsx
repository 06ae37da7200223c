// SPDX-License-Identifier: Apache-2.0
import type { Deadlock } from "../api/types";
import { victimOf } from "../deadlock/layout";
import { WaitGraph } from "../deadlock/wait_graph";
import { Empty } from "../parts/empty";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { Time } from "../parts/time";
import { useApp } from "../state/context";
import { useFetched } from "../state/fetched";
import { may } from "../state/session";
import { short } from "../text/duration";
import { counted } from "../text/number";
import "../style/deadlocks.css";

function Break({ deadlock }: { deadlock: Deadlock }) {
  const { session } = useApp();
  const victim = deadlock.members[victimOf(deadlock.members)];
  const names = [...new Set(deadlock.members.flatMap((member) => member.holds))];
  return (
    <div class="deadlock-break">
      <h3>How to break it</h3>
      <ol>
        {victim === undefined ? null : (
          <li>
            End the shortest wait: <b><Name name={victim.who} /></b> has waited for <Name name={victim.waits_for} link /> for only {short(victim.waiting_ms)}, so it loses least. Stop it, or let its <code>wait</code> run out.
          </li>
        )}
        {names.length === 0 ? null : (
          <li>
            Or take one lock of the circle away from its holder, on its page{may(session, "admin") ? "" : " (that needs a token with the verb “admin”)"}:
            <ul class="deadlock-locks">{names.map((name) => <li key={name}><Name name={name} link /></li>)}</ul>
          </li>
        )}
      </ol>
      <h3>How to prevent it</h3>
      <ul>
        <li>Take locks in one order of names everywhere, or all at once with <code>acquire-all</code>.</li>
        <li>With <code>deadlock_victim: youngest</code> in its configuration the server ends such a wait by itself, with 409 <code>deadlock</code>. See “Deadlocks” in <code>docs/operations.md</code>.</li>
      </ul>
    </div>
  );
}

function Card({ deadlock }: { deadlock: Deadlock }) {
  const owners = new Set(deadlock.members.map((member) => member.who)).size;
  return (
    <section class="card deadlock" aria-label={`Deadlock of ${counted(owners, "owner")}`}>
      <header>
        <h2>{counted(owners, "owner")} {owners === 1 ? "waits" : "wait for each other"}</h2>
        <span class="dim">since <Time at={deadlock.since} /></span>
      </header>
      <div class="body">
        <WaitGraph members={deadlock.members} />
        <Break deadlock={deadlock} />
      </div>
    </section>
  );
}

export function DeadlocksPage() {
  const { api } = useApp();
  const { data, problem, reload } = useFetched((signal) => api.deadlocks(signal), [api], 2000);
  const found = data?.deadlocks ?? [];
  return (
    <div class="page deadlocks">
      <div class="head">
        <h1>Deadlocks</h1>
        <span class="dim" role="status">{data === null ? "" : found.length === 0 ? "None just now" : `${counted(found.length, "circle")} of waits that will never end by themselves`}</span>
      </div>
      <ProblemNote problem={problem} onRetry={reload} />
      {found.map((deadlock) => <Card key={deadlock.id} deadlock={deadlock} />)}
      {data !== null && found.length === 0 ? (
        <div class="card">
          <Empty title="Nobody waits in a circle">
            <p>The server looks for owners that wait for each other, in the queues of all locks of the store and of all processes that wait there, twice a second while somebody waits.</p>
            <p>An owner is known by <code>host</code> and <code>pid</code> in its metadata, or by using one <code>owner</code> for all of its locks. Without either, a circle is not seen.</p>
          </Empty>
        </div>
      ) : null}
    </div>
  );
}
