// SPDX-License-Identifier: Apache-2.0
import type { LiveStatus } from "../state/live";
import { ticking } from "../text/duration";
import { rate } from "../text/number";

export interface LiveText {
  word: string;
  tone: "good" | "warn" | "bad";
  more: string;
}

/** What the header says of the stream. */
export function liveText(status: LiveStatus, now: number): LiveText {
  const last = status.lastByteAt;
  const ago = last === null ? "nothing received yet" : `last update ${ticking(now - last)} ago`;
  if (status.state === "connecting") return { word: "Connecting", tone: "warn", more: ago };
  if (status.state === "stale") return { word: "Stale", tone: "bad", more: ago };
  return { word: "Live", tone: "good", more: status.eventsPerSecond >= 1 ? `${rate(status.eventsPerSecond)} events/s` : ago };
}
