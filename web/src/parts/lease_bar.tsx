// SPDX-License-Identifier: Apache-2.0
import { short, ticking } from "../text/duration";
import "../style/parts.css";

interface Props {
  /** Milliseconds that are left of the lease; null where nobody said so. */
  remaining: number | null;
  /** The most that was ever left: a full bar. */
  span: number;
}

/** Green while there is plenty, amber below a third, red in the last tenth. */
export function toneOf(remaining: number, span: number): "good" | "warn" | "bad" {
  const share = span > 0 ? remaining / span : 0;
  if (share <= 0.1) return "bad";
  return share <= 0.34 ? "warn" : "good";
}

/** What is left of a lease, shrinking. */
export function LeaseBar({ remaining, span }: Props) {
  if (remaining === null) return <span class="dim">–</span>;
  const left = Math.max(0, remaining);
  const share = span > 0 ? Math.min(1, left / span) : 0;
  return (
    <span class={`lease-bar ${toneOf(left, span)}`}>
      <span class="track" role="meter" aria-label="Lease left" aria-valuemin={0} aria-valuemax={Math.round(span)} aria-valuenow={Math.round(left)} aria-valuetext={short(left)}>
        <span class="fill" style={{ transform: `scaleX(${share.toFixed(4)})` }} />
      </span>
      <span class="left">{ticking(left)}</span>
    </span>
  );
}
