// SPDX-License-Identifier: Apache-2.0
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { problemOf, type ApiProblem } from "../api/problem";
import type { Lock } from "../api/types";
import { Dialog } from "../parts/dialog";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { useApp } from "../state/context";
import { bytesOf, visible } from "../text/names";
import { counted } from "../text/number";
import { isTyped, whoOf } from "./lock_words";
import { nextInLine } from "./next_in_line";

const MOST_REASON_BYTES = 4096;
const MOST_LISTED = 5;

interface Outcome {
  ended: number;
  fence: number;
}

/** What will happen, before anybody decides. */
function Consequences({ lock }: { lock: Lock }) {
  const next = nextInLine(lock);
  const losers = lock.holders.slice(0, MOST_LISTED);
  return (
    <ul class="force-list">
      {losers.map((holder) => <li key={holder.fence}><b><Name name={whoOf(holder)} /></b> loses it <span class="dim mono">fence {holder.fence}</span></li>)}
      {lock.holders.length > losers.length ? <li>and {counted(lock.holders.length - losers.length, "more holder")}</li> : null}
      {next.length === 0 ? <li>Nobody waits: it will be free.</li> : null}
      {next.slice(0, MOST_LISTED).map((waiter, i) => <li key={waiter.party ?? i}><b><Name name={whoOf(waiter)} /></b> gets it next</li>)}
      {next.length > MOST_LISTED ? <li>and {next.length - MOST_LISTED} more with it</li> : null}
      <li>
        A holder learns of this only when it renews. <b>Until then two may be at work at once</b>, unless what the lock protects checks fences.
      </li>
    </ul>
  );
}

function Done({ outcome, name }: { outcome: Outcome; name: string }) {
  const element = useRef<HTMLParagraphElement>(null);
  useEffect(() => { element.current?.focus(); }, []);
  return (
    <p ref={element} tabIndex={-1} role="status">
      <b>{outcome.ended === 0 ? "Nobody held it any more." : `Taken from ${counted(outcome.ended, "holder")}.`}</b> Fences below <span class="mono">{outcome.fence}</span> of <Name name={name} /> are out of date now.
    </p>
  );
}

interface FieldsProps {
  name: string;
  typed: string;
  setTyped: (typed: string) => void;
  reason: string;
  setReason: (reason: string) => void;
}

function Fields({ name, typed, setTyped, reason, setReason }: FieldsProps) {
  const id = useId();
  const bytes = bytesOf(reason);
  const isLong = bytes > MOST_REASON_BYTES;
  return (
    <>
      <div class="force-name" id={`${id}name`}>{visible(name)}</div>
      <label>
        <span>Type the name above to confirm</span>
        <input type="text" value={typed} autocomplete="off" autocapitalize="off" spellcheck={false} aria-describedby={`${id}name`} onInput={(event) => { setTyped(event.currentTarget.value); }} />
      </label>
      <label>
        <span>Reason, for the audit trail and for whoever is told</span>
        <textarea rows={2} value={reason} aria-invalid={isLong} aria-describedby={`${id}bytes`} onInput={(event) => { setReason(event.currentTarget.value); }} />
      </label>
      <p id={`${id}bytes`} class={isLong ? "bad" : "hidden-visually"}>{isLong ? `${bytes} of at most ${MOST_REASON_BYTES} bytes` : "It must not be empty."}</p>
    </>
  );
}

interface Props {
  open: boolean;
  name: string;
  lock: Lock | null;
  onClose: () => void;
  onDone: () => void;
}

/** What the dialog knows; it forgets everything when it is closed. */
function useForce({ name, onDone, onClose }: Props) {
  const { api } = useApp();
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const close = () => {
    setTyped("");
    setReason("");
    setProblem(null);
    setOutcome(null);
    onClose();
  };
  const send = async () => {
    setBusy(true);
    setProblem(null);
    try {
      setOutcome(await api.force(name, reason));
      onDone();
    } catch (thrown) {
      setProblem(problemOf(thrown));
    }
    setBusy(false);
  };
  const bytes = bytesOf(reason);
  const isReady = !busy && isTyped(typed, name, visible(name)) && reason.trim() !== "" && bytes <= MOST_REASON_BYTES;
  return { typed, setTyped, reason, setReason, busy, problem, outcome, close, send, isReady };
}

/** Takes the lock from whoever holds it. */
export function ForceDialog(props: Props) {
  const { open, name, lock } = props;
  const force = useForce(props);
  const buttons = force.outcome !== null ? undefined : (
    <>
      <button type="button" onClick={force.close}>Cancel</button>
      <button type="button" class="danger" disabled={!force.isReady} onClick={() => void force.send()}>{force.busy ? "Releasing…" : "Release by force"}</button>
    </>
  );
  return (
    <Dialog open={open} title="Release this lock by force?" onClose={force.close} actions={buttons}>
      {force.outcome === null ? (
        <>
          {lock === null || lock.holders.length === 0 ? <p>Nobody holds it any more.</p> : <Consequences lock={lock} />}
          <Fields name={name} typed={force.typed} setTyped={force.setTyped} reason={force.reason} setReason={force.setReason} />
          <ProblemNote problem={force.problem} />
        </>
      ) : (
        <Done outcome={force.outcome} name={name} />
      )}
    </Dialog>
  );
}
