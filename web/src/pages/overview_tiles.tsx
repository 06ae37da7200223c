// SPDX-License-Identifier: Apache-2.0
import type { ApiProblem } from "../api/problem";
import type { Health, Stats, StatsHistory } from "../api/types";
import { storeText } from "../shell/store_text";
import type { Summary } from "../state/view";
import { fine } from "../text/duration";
import { count, rate } from "../text/number";
import { latest, total } from "../text/series";
import { Tile } from "./overview_tile";

interface Props {
  summary: Summary;
  /** The board has every lock, so that its numbers are the newest. */
  whole: boolean;
  stats: Stats | null;
  history: StatsHistory | null;
  health: Health | null;
  healthProblem: ApiProblem | null;
}

const known = (value: number | null, format: (value: number) => string) => (value === null ? "–" : format(value));

function WaitTile({ history }: { history: StatsHistory | null }) {
  const p50 = history === null ? null : latest(history.wait_p50_ms);
  const p99 = history === null ? null : latest(history.wait_p99_ms);
  return (
    <Tile
      title="Wait for a lock"
      value={known(p50, fine)}
      more={`median; 99 % within ${known(p99, fine)}`}
      history={history}
      format={fine}
      series={(columns) => [
        { label: "p50", values: columns.wait_p50_ms, color: "--hold" },
        { label: "p99", values: columns.wait_p99_ms, color: "--wait" },
      ]}
    />
  );
}

function LostTile({ history }: { history: StatsHistory | null }) {
  const lost = history === null ? null : total(history.lost);
  const expired = history === null ? null : total(history.expired);
  return (
    <Tile
      title="Lost leases"
      value={count(lost)}
      tone={(lost ?? 0) > 0 ? "bad" : undefined}
      more={`in this span; ${count(expired)} expired`}
      history={history}
      format={count}
      whole
      series={(columns) => [
        { label: "lost", values: columns.lost, color: "--bad" },
        { label: "expired", values: columns.expired, color: "--warn" },
      ]}
    />
  );
}

function StoreTile({ history, health, healthProblem }: Pick<Props, "history" | "health" | "healthProblem">) {
  const text = storeText(health, healthProblem);
  const failures = history === null ? null : total(history.store_failures);
  return (
    <Tile
      title="Store"
      fresh
      value={text.word}
      tone={text.tone}
      more={`${count(failures)} failed calls in this span`}
      history={history}
      format={fine}
      series={(columns) => [{ label: "p99", values: columns.store_p99_ms, color: "--claim" }]}
    />
  );
}

export function Tiles({ summary, whole, stats, history, health, healthProblem }: Props) {
  const acquired = history === null ? null : latest(history.acquired_per_s);
  const refused = history === null ? null : latest(history.refused_per_s);
  return (
    <div class="tiles">
      <Tile
        title="Held locks"
        value={count(whole ? summary.held : (stats?.held_locks ?? summary.held))}
        history={history}
        format={count}
        whole
        series={(columns) => [{ label: "held", values: columns.held, color: "--hold", fill: true }]}
      />
      <Tile
        title="Waiters"
        value={count(whole ? summary.waiters : (stats?.waiters_on_store ?? summary.waiters))}
        history={history}
        format={count}
        whole
        series={(columns) => [{ label: "waiters", values: columns.waiters, color: "--wait", fill: true }]}
      />
      <Tile
        title="Acquisitions"
        value={known(acquired, (value) => `${rate(value)}/s`)}
        more={`${rate(refused)}/s refused`}
        history={history}
        format={rate}
        series={(columns) => [
          { label: "acquired", values: columns.acquired_per_s, color: "--good" },
          { label: "refused", values: columns.refused_per_s, color: "--warn" },
        ]}
      />
      <WaitTile history={history} />
      <LostTile history={history} />
      <StoreTile history={history} health={health} healthProblem={healthProblem} />
    </div>
  );
}
