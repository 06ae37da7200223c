// SPDX-License-Identifier: Apache-2.0
import { LeaseBar } from "../parts/lease_bar";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { Ago } from "../parts/time";
import type { Row } from "../state/row";
import type { Tries, Try } from "../state/tries";
import { kindTitle } from "../text/kinds";

/** Its place in line, from 1; null where the board does not know yet. */
export function placeOf(row: Row | undefined, source: string): { place: number; of: number } | null {
  const at = row?.waiters.findIndex((waiter) => waiter.source === source) ?? -1;
  return at < 0 || row === undefined ? null : { place: at + 1, of: row.waiters.length };
}

function Waiting({ one, row, now, tries }: Props) {
  const place = placeOf(row, one.source);
  return (
    <>
      <p>
        Waiting for <Ago ms={now - one.since} />
        {place === null ? null : (
          <>
            , number <strong>{place.place}</strong> of {place.of} in line
          </>
        )}
      </p>
      <div class="actions">
        <button type="button" onClick={() => { tries.cancel(one.id); }}>
          Cancel
        </button>
      </div>
    </>
  );
}

function Holding({ one, now, tries }: Props) {
  return (
    <>
      <LeaseBar remaining={one.expires_at - now} span={one.span} />
      <p class="dim">
        fence <span class="mono">{one.lease?.fence}</span>, held for <Ago ms={now - one.since} />
      </p>
      <ProblemNote problem={one.problem} />
      <div class="actions">
        <label class="inline">
          <input type="checkbox" checked={one.auto} onChange={(event) => { tries.setAuto(one.id, event.currentTarget.checked); }} />
          <span>Renew by itself</span>
        </label>
        <button type="button" onClick={() => void tries.renew(one.id)}>
          Renew
        </button>
        <button type="button" onClick={() => void tries.release(one.id)}>
          Release
        </button>
      </div>
    </>
  );
}

function Ended({ one, tries }: Props) {
  return (
    <>
      <p class={one.outcome.startsWith("lost") ? "bad" : "dim"}>{one.outcome}</p>
      <ProblemNote problem={one.problem} />
      <div class="actions">
        <button type="button" class="quiet" onClick={() => { tries.remove(one.id); }}>
          Dismiss
        </button>
      </div>
    </>
  );
}

interface Props {
  one: Try;
  row: Row | undefined;
  now: number;
  tries: Tries;
}

const STATES = { waiting: "waiting", held: "held", ended: "over" } as const;

export function TryCard(props: Props) {
  const { one } = props;
  const Body = { waiting: Waiting, held: Holding, ended: Ended }[one.phase];
  return (
    <section class={`card try-card ${one.phase}`} aria-label={`Acquisition ${one.id}`}>
      <header>
        <Name name={one.wanted.name} link />
        <span class="dim">{kindTitle(one.wanted.kind)}</span>
        <span class="state" role="status">
          {STATES[one.phase]}
        </span>
      </header>
      <div class="body">
        <Body {...props} />
      </div>
    </section>
  );
}
