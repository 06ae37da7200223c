// SPDX-License-Identifier: Apache-2.0
import "../style/parts.css";

interface Props {
  /** From 0 to 1. */
  share: number;
  tone?: "hold" | "wait" | "good" | "warn" | "bad";
}

/** A bar beside a number that says the same, so it is nothing to be read aloud. */
export function ShareBar({ share, tone = "hold" }: Props) {
  const clamped = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));
  return (
    <span class={`share-bar ${tone}`} aria-hidden="true">
      <span class="fill" style={{ transform: `scaleX(${clamped.toFixed(4)})` }} />
    </span>
  );
}
