// SPDX-License-Identifier: Apache-2.0
//
// Who holds a lock and who waits for it.
import { useRef } from "preact/hooks";
import type { Holder, Kind, Lock, Said } from "../api/types";
import { LeaseBar } from "../parts/lease_bar";
import { Name } from "../parts/name";
import { Ago, Time } from "../parts/time";
import { useNow } from "../state/context";
import { count } from "../text/number";
import { alsoOf, hasShares, shareOf, whoOf } from "./lock_words";
import type { Look } from "./use_lock";

const MOST_WAITERS = 200;

function Who({ said, claimed = false, value }: { said: Said & { party: string | null }; claimed?: boolean; value?: string | undefined }) {
  return (
    <div class="lock-who">
      <div>
        <span title={said.party === null ? "" : `party ${said.party}`}><Name name={whoOf(said)} /></span>
        {claimed ? <span class="tag claimed" title="Handed over, but its new holder has not confirmed it yet">claimed</span> : null}
      </div>
      {alsoOf(said).map((part, i) => <div key={i} class="dim"><Name name={part} /></div>)}
      {value === undefined ? null : <div class="lock-value"><span class="dim">value</span> <Name name={value} /></div>}
    </div>
  );
}

/** The most that was ever left of each lease: its full bar. */
function useSpans(holders: readonly Holder[]): Map<number, number> {
  const spans = useRef(new Map<number, number>());
  const next = new Map(holders.map((holder) => [holder.fence, Math.max(holder.expires_in_ms, spans.current.get(holder.fence) ?? 0)]));
  spans.current = next;
  return next;
}

function HolderRow({ holder, position, kind, age, span }: { holder: Holder; position: number; kind: Kind; age: number; span: number }) {
  return (
    <tr>
      <td class="number dim" data-label="#">{position}</td>
      <td data-label="who"><Who said={holder} claimed={holder.claimed} value={holder.value} /></td>
      {hasShares(kind) ? <td data-label="share">{shareOf(kind, holder.mode, holder.permits)}</td> : null}
      <td data-label="for"><Ago ms={holder.held_ms + age} /> <span class="dim">since <Time at={holder.acquired_at} /></span></td>
      <td class="mono" data-label="fence">{holder.fence}</td>
      <td class="lock-lease" data-label="lease left"><LeaseBar remaining={holder.expires_in_ms - age} span={span} /></td>
    </tr>
  );
}

export function Holders({ lock, look }: { lock: Lock; look: Look }) {
  const now = useNow(500);
  const spans = useSpans(lock.holders);
  const age = Math.max(0, now - look.readNow);
  return (
    <table class="lock-table">
      <thead>
        <tr><th scope="col" class="number">#</th><th scope="col">Holder</th>{hasShares(lock.kind) ? <th scope="col">Share</th> : null}<th scope="col">Held</th><th scope="col">Fence</th><th scope="col">Lease left</th></tr>
      </thead>
      <tbody>
        {lock.holders.map((holder, i) => (
          <HolderRow key={`${holder.fence} ${i}`} holder={holder} position={i + 1} kind={lock.kind} age={age} span={spans.get(holder.fence) ?? 0} />
        ))}
      </tbody>
    </table>
  );
}

export function Queue({ lock, look }: { lock: Lock; look: Look }) {
  const age = Math.max(0, useNow(1000) - look.readNow);
  const shown = lock.waiters.slice(0, MOST_WAITERS);
  return (
    <>
      <table class="lock-table">
        <thead><tr><th scope="col" class="number">#</th><th scope="col">Waiter</th>{hasShares(lock.kind) ? <th scope="col">Wants</th> : null}<th scope="col">Waits</th></tr></thead>
        <tbody>
          {shown.map((waiter, i) => (
            <tr key={waiter.party ?? i}>
              <td class="number dim" data-label="#">{i + 1}</td>
              <td data-label="who"><Who said={waiter} /></td>
              {hasShares(lock.kind) ? <td data-label="wants">{shareOf(lock.kind, waiter.mode, waiter.permits)}</td> : null}
              <td data-label="for"><Ago ms={waiter.waiting_ms + age} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {lock.waiters.length > shown.length ? <p class="lock-rest dim">and {count(lock.waiters.length - shown.length)} more</p> : null}
    </>
  );
}
