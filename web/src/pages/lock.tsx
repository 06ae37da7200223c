// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from "preact/hooks";
import type { Lock } from "../api/types";
import { CopyButton } from "../parts/copy_button";
import { HistogramView } from "../parts/histogram_view";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { hrefOf } from "../router";
import { useApp } from "../state/context";
import { covers, may } from "../state/session";
import type { LiveLock } from "../timeline/span";
import { TimelineView } from "../timeline/timeline_view";
import { counted } from "../text/number";
import { ForceDialog } from "./force_dialog";
import { LockAudit } from "./lock_audit";
import { Members } from "./lock_members";
import { Holders, Queue } from "./lock_people";
import { KINDS, standingOf } from "./lock_words";
import { useHistory, useLook, type History, type Look } from "./use_lock";
import "../style/lock.css";

const ORDERS: Record<Lock["order"], string> = { automatic: "automatic order", fifo: "first come, first served", barging: "barging" };

function Head({ name, look, history }: { name: string; look: Look | null; history: History }) {
  const lock = look?.lock ?? null;
  const kind = lock?.kind ?? history.events.findLast((event) => event.kind !== undefined)?.kind;
  const standing = standingOf(lock);
  return (
    <div class="lock-head">
      <p class="lock-path"><a href={hrefOf({ page: "locks" })}>Locks</a> <span aria-hidden="true">/</span></p>
      <div class="lock-title">
        <h1 tabIndex={-1}><Name name={name} /></h1>
        <CopyButton text={name} label="Copy the name" />
      </div>
      <div class="lock-tags">
        {look === null ? null : <span class={`lock-state ${standing.tone}`}>{standing.text}</span>}
        {kind === undefined ? null : <span class="tag">{KINDS[kind]}</span>}
        {lock === null ? null : <span class="tag">{ORDERS[lock.order]}</span>}
        {lock?.capacity == null ? null : <span class="tag">capacity {lock.capacity}</span>}
      </div>
    </div>
  );
}

function People({ look }: { look: Look | null }) {
  const lock = look?.lock ?? null;
  if (look === null) return <section class="card"><p class="body dim" role="status">Loading…</p></section>;
  if (lock === null) {
    return <section class="card"><p class="body"><b>Nobody holds this lock</b>, nor waits for it. <span class="dim">What happened to it before is below, as far as it is kept.</span></p></section>;
  }
  return (
    <div class={lock.waiters.length === 0 ? "lock-people" : "lock-people both"}>
      <section class="card" aria-labelledby="lock-holders">
        <header><h2 id="lock-holders">{lock.holders.length === 1 ? "Holder" : "Holders"}</h2><span class="dim">{counted(lock.holders.length, "holder")}</span></header>
        {lock.holders.length === 0 ? <p class="body dim">Nobody holds it just now.</p> : <div class="scroll-x"><Holders lock={lock} look={look} /></div>}
      </section>
      <section class="card" aria-labelledby="lock-queue">
        <header><h2 id="lock-queue">Queue</h2><span class="dim">{counted(lock.waiters.length, "waiter")}</span></header>
        {lock.waiters.length === 0 ? <p class="body dim">Nobody waits.</p> : <div class="lock-waiters" tabIndex={0} role="region" aria-label="Waiters"><Queue lock={lock} look={look} /></div>}
      </section>
    </div>
  );
}

function liveOf(look: Look | null): LiveLock | null {
  if (look === null) return null;
  return look.lock ?? { kind: "mutex", holders: [], waiters: [] };
}

function Past({ look, history }: { look: Look | null; history: History }) {
  const { timeline, events, isLoaded, skew } = history;
  const live = useRef<{ look: Look | null; lock: LiveLock | null }>({ look: null, lock: null });
  // The picture is made anew only for another look, not whenever this page is.
  if (live.current.look !== look) live.current = { look, lock: liveOf(look) };
  return (
    <section class="card" aria-labelledby="lock-timeline">
      <header><h2 id="lock-timeline">Timeline</h2></header>
      <div class="body">
        <ProblemNote problem={timeline.problem} onRetry={timeline.reload} />
        {!isLoaded && timeline.problem === null ? <p class="dim lock-loading" role="status">Loading…</p> : (
          <TimelineView events={events} lock={live.current.lock} seenAt={(look?.readAt ?? Date.now()) + skew} skew={skew} truncated={timeline.data?.truncated ?? false} />
        )}
      </div>
    </section>
  );
}

function Histograms({ history }: { history: History }) {
  const timeline = history.timeline.data;
  if (timeline === null) return null;
  return (
    <div class="lock-histograms">
      <section class="card"><div class="body"><HistogramView title="How long one waits for it" histogram={timeline.waits} kind="wait" empty="Nobody has been granted it after a wait yet." /></div></section>
      <section class="card"><div class="body"><HistogramView title="How long it is held" histogram={timeline.holds} kind="hold" empty="Nobody has given it back yet." /></div></section>
    </div>
  );
}

function Danger({ name, lock, onDone }: { name: string; lock: Lock | null; onDone: () => void }) {
  const { session } = useApp();
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isHeld = lock !== null && lock.holders.length > 0;
  if (session.me === null || !may(session, "admin") || !covers(session.me, name)) return null;
  const close = () => {
    setOpen(false);
    // The button cannot take the focus back once it is gone, because nobody holds the lock.
    requestAnimationFrame(() => { if (button.current === null) document.querySelector<HTMLElement>(".lock-title h1")?.focus(); });
  };
  return (
    <div class="lock-danger">
      {isHeld ? <button ref={button} type="button" class="danger" onClick={() => { setOpen(true); }}>Release by force…</button> : null}
      <ForceDialog open={open} name={name} lock={lock} onClose={close} onDone={onDone} />
    </div>
  );
}

export function LockPage({ name }: { name: string }) {
  const look = useLook(name);
  const history = useHistory(name, look.data);
  const [turn, setTurn] = useState(0);
  const lock = look.data?.lock ?? null;
  const done = () => {
    look.reload();
    setTurn((before) => before + 1);
  };
  return (
    <div class="page lock-page">
      <div class="lock-top">
        <Head name={name} look={look.data} history={history} />
        <Danger name={name} lock={lock} onDone={done} />
      </div>
      <ProblemNote problem={look.problem} onRetry={look.reload} />
      <People look={look.data} />
      {lock?.members === undefined ? null : <Members members={lock.members} />}
      <Past look={look.data} history={history} />
      <Histograms history={history} />
      <LockAudit name={name} turn={turn} />
    </div>
  );
}
