// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { problemOf, type ApiProblem } from "../api/problem";
import type { RateLimit } from "../api/types";
import { Dialog } from "../parts/dialog";
import { Empty } from "../parts/empty";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { toast } from "../parts/toast";
import { useApp } from "../state/context";
import { useFetched } from "../state/fetched";
import { may } from "../state/session";
import { RateTable } from "./rate_table";
import "../style/tables.css";

interface ResetProps {
  limit: RateLimit | null;
  onClose: () => void;
  onDone: () => void;
}

function ResetDialog({ limit, onClose, onDone }: ResetProps) {
  const { api } = useApp();
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const close = () => {
    setProblem(null);
    onClose();
  };
  const reset = async (chosen: RateLimit) => {
    setBusy(true);
    try {
      await api.resetRate(chosen.scope, { rate: chosen.rate, algorithm: chosen.algorithm, layout: chosen.layout });
      toast(`The count of ${chosen.scope} was reset.`, "good");
      close();
      onDone();
    } catch (thrown) {
      setProblem(problemOf(thrown));
    }
    setBusy(false);
  };
  return (
    <Dialog
      open={limit !== null}
      title="Reset this rate limit?"
      onClose={close}
      actions={
        <>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="button" class="danger" disabled={busy} onClick={() => { if (limit !== null) void reset(limit); }}>
            Reset
          </button>
        </>
      }
    >
      {limit === null ? null : (
        <p>
          What was counted for <Name name={limit.scope} /> is forgotten, for everybody: all {limit.limit} are free at once. It is in the audit trail.
        </p>
      )}
      <ProblemNote problem={problem} />
    </Dialog>
  );
}

export function RateLimitsPage() {
  const { api, session } = useApp();
  const { data, problem, reload } = useFetched((signal) => api.rateLimits(signal), [api], 2000);
  const [prefix, setPrefix] = useState("");
  const [chosen, setChosen] = useState<RateLimit | null>(null);
  const limits = data?.limits.filter((limit) => limit.scope.startsWith(prefix)) ?? [];
  return (
    <div class="page rate-limits">
      <div class="head">
        <h1>Rate limits</h1>
        <span class="dim">Those that were checked through this server, the newest first</span>
      </div>
      <div class="bar" role="search">
        <label>
          <span>Scope begins with</span>
          <input type="search" data-search value={prefix} autocomplete="off" spellcheck={false} onInput={(event) => { setPrefix(event.currentTarget.value); }} />
        </label>
      </div>
      <ProblemNote problem={problem} onRetry={reload} />
      {limits.length > 0 ? <RateTable limits={limits} onReset={may(session, "admin") ? setChosen : null} /> : null}
      {data !== null && limits.length === 0 ? (
        <div class="card">
          {data.limits.length > 0 ? (
            <Empty title="No scope matches">Nothing begins with what you typed.</Empty>
          ) : (
            <Empty title="No rate limits in use">
              They appear when somebody checks one: <code>holdfast limit SCOPE --rate 10/s -- command</code>, or POST v1/rate-limits/SCOPE/check.
            </Empty>
          )}
        </div>
      ) : null}
      <ResetDialog limit={chosen} onClose={() => { setChosen(null); }} onDone={reload} />
    </div>
  );
}
