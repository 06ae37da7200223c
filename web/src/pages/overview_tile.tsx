// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { StatsHistory } from "../api/types";
import { Chart, type ChartSeries } from "../parts/chart";
import { secondsIn, secondsOf, spoken } from "../text/series";

interface Props {
  title: string;
  /** The number one looks at. */
  value: ComponentChildren;
  /** What it means, in a few words. */
  more?: ComponentChildren;
  tone?: "good" | "warn" | "bad" | undefined;
  history: StatsHistory | null;
  series: (history: StatsHistory) => ChartSeries[];
  format: (value: number) => string;
  whole?: boolean;
  /** It does not come from the stream, and so is as new as ever when that is stale. */
  fresh?: boolean;
}

export function Tile({ title, value, more, tone, history, series, format, whole = false, fresh = false }: Props) {
  const at = useMemo(() => (history === null ? [] : secondsOf(history)), [history]);
  const lines = useMemo(() => (history === null ? [] : series(history)), [history]);
  const label = `${title}: ${lines.map((line) => `${line.label} ${spoken(line.values, format)}`).join("; ")}`;
  return (
    <section class={fresh ? "card tile" : "card tile numbers"} aria-label={title}>
      <h2>{title}</h2>
      <div class="figures">
        <span class={`figure ${tone ?? ""}`}>{value}</span>
        <span class="dim">{more}</span>
      </div>
      {history === null || at.length === 0 ? <div class="chart-room dim">{history === null ? null : "The first values come in a few seconds."}</div> : <Chart at={at} series={lines} height={96} seconds={secondsIn(history.span)} label={label} format={format} whole={whole} />}
    </section>
  );
}
