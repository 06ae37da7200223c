// SPDX-License-Identifier: Apache-2.0
import type { Histogram } from "../api/types";
import { count, counted } from "../text/number";
import { fine, mean, placeOf, quantile, shownBuckets, type Estimate } from "../text/quantile";
import "./histogram_view.css";

interface Props {
  title: string;
  histogram: Histogram;
  /** Which colour it has. */
  kind: "wait" | "hold";
  /** What to say where nothing was counted yet. */
  empty: string;
}

function estimate(value: Estimate | null): string {
  if (value === null) return "–";
  return value.at_least ? `> ${fine(value.ms)}` : `≈ ${fine(value.ms)}`;
}

function range(bounds: readonly number[], index: number): string {
  const lower = index === 0 ? 0 : (bounds[index - 1] ?? 0);
  const upper = bounds[index];
  return upper === undefined ? `more than ${fine(lower)}` : `${lower === 0 ? "0" : fine(lower)} to ${fine(upper)}`;
}

const MOST_LABELS = 7;

function Bars({ histogram, kind }: Pick<Props, "histogram" | "kind">) {
  const { from, to } = shownBuckets(histogram);
  const most = Math.max(1, ...histogram.counts);
  const every = Math.ceil((to - from) / MOST_LABELS);
  const place = (ms: number): string => `${(((placeOf(histogram.bounds_ms, ms) - from) / Math.max(1, to - from)) * 100).toFixed(2)}%`;
  const marks = ([["p50", 0.5], ["p99", 0.99]] as const).map(([label, share]) => ({ label, value: quantile(histogram, share) }));
  return (
    <div class="histogram-field" aria-hidden="true">
      <div class="histogram-bars">
        {histogram.counts.slice(from, to).map((each, i) => (
          <div key={from + i} class="histogram-bucket" title={`${range(histogram.bounds_ms, from + i)}: ${count(each)}`}>
            <div class={`histogram-bar ${kind}`} style={{ height: each === 0 ? "0" : `max(2px, ${((each / most) * 100).toFixed(2)}%)` }} />
          </div>
        ))}
        {marks.map(({ label, value }) => value === null ? null : <div key={label} class={`histogram-mark ${label}`} style={{ left: place(value.ms) }}><span>{label}</span></div>)}
      </div>
      <div class="histogram-bounds dim">
        {histogram.counts.slice(from, to).map((_, i) => {
          const bound = histogram.bounds_ms[from + i];
          return <span key={from + i}>{(i + 1) % every === 0 && from + i + 1 < to && bound !== undefined ? <i>{fine(bound)}</i> : null}</span>;
        })}
      </div>
    </div>
  );
}

function BucketTable({ histogram, title }: Pick<Props, "histogram" | "title">) {
  const { from, to } = shownBuckets(histogram);
  return (
    <table class="hidden-visually">
      <caption>{title}</caption>
      <thead><tr><th scope="col">took</th><th scope="col">how many</th></tr></thead>
      <tbody>
        {histogram.counts.slice(from, to).map((each, i) => <tr key={from + i}><td>{range(histogram.bounds_ms, from + i)}</td><td>{each}</td></tr>)}
      </tbody>
    </table>
  );
}

/** How long something took, in buckets that the server chose. */
export function HistogramView({ title, histogram, kind, empty }: Props) {
  const average = mean(histogram);
  return (
    <figure class="histogram">
      <figcaption>
        <h3>{title}</h3>
        <dl>
          <div><dt>count</dt><dd>{count(histogram.count)}</dd></div>
          <div><dt title="Half of them took less; estimated">p50</dt><dd>{estimate(quantile(histogram, 0.5))}</dd></div>
          <div><dt title="Of a hundred, 99 took less; estimated">p99</dt><dd>{estimate(quantile(histogram, 0.99))}</dd></div>
          <div><dt>mean</dt><dd>{average === null ? "–" : fine(average)}</dd></div>
        </dl>
      </figcaption>
      {histogram.count === 0 ? <p class="dim histogram-empty">{empty}</p> : <><Bars histogram={histogram} kind={kind} /><BucketTable histogram={histogram} title={`${title}: ${counted(histogram.count, "value")}`} /></>}
    </figure>
  );
}
