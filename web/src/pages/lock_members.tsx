// SPDX-License-Identifier: Apache-2.0
import type { Member } from "../api/types";
import { Name } from "../parts/name";
import { short } from "../text/duration";

const STATES: Record<Member["state"], string> = {
  free: "free",
  held: "held",
  unreachable: "cannot be reached",
  too_slow: "too slow",
  refused: "refused",
};

function tone(member: Member): string {
  if (member.state === "held") return "";
  return member.state === "free" ? "dim" : "bad";
}

/** What each server of a redlock store says; the lock is held where a majority agrees. */
export function Members({ members }: { members: readonly Member[] }) {
  const counting = members.filter((member) => member.counts).length;
  return (
    <section class="card" aria-labelledby="lock-members">
      <header>
        <h2 id="lock-members">Servers of this store</h2>
        <span class={counting * 2 > members.length ? "dim" : "bad"}>{counting} of {members.length} count; {Math.floor(members.length / 2) + 1} must agree</span>
      </header>
      <div class="scroll-x">
        <table class="lock-table">
          <thead><tr><th scope="col">Server</th><th scope="col">Says</th><th scope="col">Counts</th><th scope="col">Fence</th><th scope="col">Lease left</th></tr></thead>
          <tbody>
            {members.map((member) => (
              <tr key={member.address}>
                <td class="mono" data-label="server"><Name name={member.address} /></td>
                <td data-label="says"><span class={tone(member)}>{STATES[member.state]}</span>{member.holders > 1 ? ` by ${member.holders}` : ""}</td>
                <td data-label="counts">{member.counts ? "yes" : <span class="warn">no{member.reason === null ? "" : ": "}<Name name={member.reason ?? ""} /></span>}</td>
                <td class="mono" data-label="fence">{member.fence ?? "–"}</td>
                <td data-label="lease left">{member.state === "held" ? short(member.expires_in_ms) : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
