// SPDX-License-Identifier: Apache-2.0
import type { RateLimit } from "../api/types";
import { Name } from "../parts/name";
import { ShareBar } from "../parts/share_bar";
import { Time } from "../parts/time";
import { short } from "../text/duration";
import { count } from "../text/number";

interface Props {
  limits: readonly RateLimit[];
  /** Null: this token may not. */
  onReset: ((limit: RateLimit) => void) | null;
}

/** Amber from four fifths on, red when nothing is left. */
export function usageTone(limit: Pick<RateLimit, "count" | "limit" | "remaining">): "good" | "warn" | "bad" {
  if (limit.remaining <= 0) return "bad";
  return limit.count >= limit.limit * 0.8 ? "warn" : "good";
}

function Line({ limit, onReset }: { limit: RateLimit; onReset: Props["onReset"] }) {
  return (
    <tr>
      <td class="wide">
        <Name name={limit.scope} />
      </td>
      <td class="mono" data-label="Rate">{limit.rate}</td>
      <td class="dim" data-label="Algorithm">{limit.algorithm.replaceAll("_", " ")}</td>
      <td class="bar-cell">
        <span class="with-bar">
          <ShareBar share={limit.count / Math.max(1, limit.limit)} tone={usageTone(limit)} />
          <span class="number">
            {count(limit.count)} / {count(limit.limit)}
          </span>
        </span>
      </td>
      <td class="number" data-label="Free again in">{short(limit.reset_ms)}</td>
      <td class="number" data-label="Allowed">{count(limit.allowed)}</td>
      <td class={limit.denied > 0 ? "number bad" : "number dim"} data-label="Denied">{count(limit.denied)}</td>
      <td data-label="Last asked">
        <Time at={limit.last_at} />
      </td>
      <td data-label="Last denied">{limit.last_denied_at === null ? <span class="dim">never</span> : <Time at={limit.last_denied_at} />}</td>
      {onReset === null ? null : (
        <td class="action">
          {limit.layout === "native" ? (
            <button type="button" class="small" aria-label={`Reset ${limit.scope}`} onClick={() => { onReset(limit); }}>
              Reset
            </button>
          ) : (
            <span class="dim" title="Its keys are another program's, and so is its reset.">{limit.layout}</span>
          )}
        </td>
      )}
    </tr>
  );
}

export function RateTable({ limits, onReset }: Props) {
  return (
    <div class="card scroll-x numbers">
      <table class="dense">
        <caption class="hidden-visually">Rate limits</caption>
        <thead>
          <tr>
            <th scope="col">Scope</th>
            <th scope="col">Rate</th>
            <th scope="col">Algorithm</th>
            <th scope="col">Used</th>
            <th scope="col" class="number">Free again in</th>
            <th scope="col" class="number">Allowed</th>
            <th scope="col" class="number">Denied</th>
            <th scope="col">Last asked</th>
            <th scope="col">Last denied</th>
            {onReset === null ? null : (
              <th scope="col">
                <span class="hidden-visually">Reset</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {limits.map((limit) => (
            <Line key={`${limit.layout} ${limit.algorithm} ${limit.rate} ${limit.scope}`} limit={limit} onReset={onReset} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
