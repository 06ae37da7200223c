// SPDX-License-Identifier: Apache-2.0
import type { ContendedName } from "../api/types";
import { Empty } from "../parts/empty";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { ShareBar } from "../parts/share_bar";
import { useApp, useBoard } from "../state/context";
import { useFetched } from "../state/fetched";
import { short } from "../text/duration";
import { count } from "../text/number";
import "../style/tables.css";

const MOST = 200;

interface LineProps {
  rank: number;
  one: ContendedName;
  /** The longest time that anybody's lock was waited for: a full bar. */
  most: number;
  waiting: number;
}

function Line({ rank, one, most, waiting }: LineProps) {
  return (
    <tr>
      <td class="number dim rank">{rank}</td>
      <td class="wide">
        <Name name={one.name} link />
      </td>
      <td class="bar-cell">
        <span class="with-bar">
          <ShareBar share={one.waited_ms / most} tone="wait" />
          <span class="number">{short(one.waited_ms)}</span>
        </span>
      </td>
      <td class="number" data-label="Waits">{count(one.waited)}</td>
      <td class="number" data-label="Mean">{one.waited === 0 ? "–" : short(one.waited_ms / one.waited)}</td>
      <td class="number" data-label="Longest">{short(one.longest_ms)}</td>
      <td class="number" data-label="Refused">{count(one.refused)}</td>
      <td class="number" data-label="Waiting now">{waiting > 0 ? <strong class="queue">{count(waiting)}</strong> : <span class="dim">0</span>}</td>
    </tr>
  );
}

function Ranking({ names }: { names: readonly ContendedName[] }) {
  const board = useBoard();
  const most = Math.max(1, ...names.map((one) => one.waited_ms));
  return (
    <div class="card scroll-x numbers">
      <table class="dense">
        <caption class="hidden-visually">Locks, ranked by the time that was spent waiting for them</caption>
        <thead>
          <tr>
            <th scope="col" class="number">#</th>
            <th scope="col">Name</th>
            <th scope="col">Time waited</th>
            <th scope="col" class="number">Waits</th>
            <th scope="col" class="number">Mean</th>
            <th scope="col" class="number">Longest</th>
            <th scope="col" class="number">Refused</th>
            <th scope="col" class="number">Waiting now</th>
          </tr>
        </thead>
        <tbody>
          {names.map((one, i) => (
            <Line key={one.name} rank={i + 1} one={one} most={most} waiting={board.get(one.name)?.waiters.length ?? 0} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ContentionPage() {
  const { api } = useApp();
  const { data, problem, reload } = useFetched((signal) => api.contention(signal), [api], 2000);
  const names = data?.names ?? [];
  return (
    <div class="page contention">
      <div class="head">
        <h1>Contention</h1>
        <span class="dim">Ranked by the time spent waiting, as far as this server has seen it</span>
      </div>
      <ProblemNote problem={problem} onRetry={reload} />
      {names.length > MOST ? <p class="dim">The first {MOST} of {count(names.length)}.</p> : null}
      {names.length > 0 ? <Ranking names={names.slice(0, MOST)} /> : null}
      {data !== null && names.length === 0 ? (
        <div class="card">
          <Empty title="Nobody had to wait">Names for which somebody waited, or was refused, appear here.</Empty>
        </div>
      ) : null}
    </div>
  );
}
