// SPDX-License-Identifier: Apache-2.0
import type { ApiProblem } from "../api/problem";
import { adviceFor } from "../text/advice";
import { visible } from "../text/names";
import "../style/parts.css";

interface Props {
  problem: ApiProblem | null;
  /** Offers to try again. */
  onRetry?: () => void;
}

/** What went wrong and what to do about it; nothing where nothing did. */
export function ProblemNote({ problem, onRetry }: Props) {
  if (problem === null || problem.code === "cancelled") return null;
  const advice = adviceFor(problem);
  return (
    <div class="note bad" role="alert">
      <p>
        <bdi>{visible(problem.detail)}</bdi>
        {advice === "" ? null : <span class="dim"> {advice}</span>}
      </p>
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
