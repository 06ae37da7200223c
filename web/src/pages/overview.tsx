// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import type { ApiProblem } from "../api/problem";
import type { Deadlock, Health, Span } from "../api/types";
import { Choice } from "../parts/choice";
import { Empty } from "../parts/empty";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { useApp, useBoard } from "../state/context";
import { useFetched } from "../state/fetched";
import { summaryOf } from "../state/view";
import { counted } from "../text/number";
import { pollEvery } from "../text/series";
import { Contended, Oldest } from "./overview_lists";
import { Tiles } from "./overview_tiles";
import "../style/overview.css";

interface Props {
  deadlocks: readonly Deadlock[];
  health: Health | null;
  healthProblem: ApiProblem | null;
}

const SPANS: readonly { value: Span; title: string }[] = [
  { value: "1m", title: "1 min" },
  { value: "15m", title: "15 min" },
  { value: "1h", title: "1 h" },
];

const STEP_MS: Record<Span, number> = { "1m": 1000, "15m": 5000, "1h": 10_000 };

/** Whoever comes back finds the span as it was. */
let kept: Span = "15m";

function DeadlockBanner({ deadlocks }: { deadlocks: readonly Deadlock[] }) {
  if (deadlocks.length === 0) return null;
  const names = deadlocks.flatMap((deadlock) => deadlock.members.map((member) => member.waits_for)).slice(0, 3);
  return (
    <div class="note bad" role="alert">
      <p>
        <strong class="bad">{counted(deadlocks.length, "deadlock")}.</strong> These waits will never end by themselves:{" "}
        {names.map((name, i) => (
          <span key={i}>
            {i > 0 ? ", " : ""}
            <Name name={name} link />
          </span>
        ))}
      </p>
      <a href="#/deadlocks">See who waits for whom</a>
    </div>
  );
}

export function OverviewPage({ deadlocks, health, healthProblem }: Props) {
  const { api, live } = useApp();
  const board = useBoard();
  const [span, setSpan] = useState(kept);
  kept = span;
  const history = useFetched((signal) => api.history(span, signal), [api, span], pollEvery(STEP_MS[span]));
  const stats = useFetched((signal) => api.stats(signal), [api], 5000);
  const summary = useMemo(() => summaryOf(board.rows), [board.version]);
  const whole = board.complete && !board.overflow && live.prefix === "";
  return (
    <div class="page overview">
      <div class="head">
        <h1>Overview</h1>
        <Choice label="Span of the charts" options={SPANS} value={span} onChange={setSpan} />
      </div>
      <DeadlockBanner deadlocks={deadlocks} />
      <ProblemNote problem={history.problem} onRetry={history.reload} />
      <Tiles summary={summary} whole={whole} stats={stats.data} history={history.data} health={health} healthProblem={healthProblem} />
      {board.complete && board.rows.size === 0 ? (
        <div class="card">
          <Empty title="No locks yet">
            Take the first one on the page <a href="#/try-it">Try it</a>, or with <code>holdfast run NAME -- command</code>.
          </Empty>
        </div>
      ) : (
        <div class="halves">
          <Contended rows={summary.contended} />
          <Oldest rows={summary.oldest} />
        </div>
      )}
    </div>
  );
}
