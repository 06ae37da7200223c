// SPDX-License-Identifier: Apache-2.0
import { ticking } from "../text/duration";
import { localTime, utcTime } from "../text/time";

/** A point in time in the viewer's zone, with UTC on hover. */
export function Time({ at }: { at: string }) {
  const utc = utcTime(at);
  if (utc === null) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={utc}>
      {localTime(new Date(at), new Date())}
    </time>
  );
}

/** How long ago, or how long already. */
export function Ago({ ms }: { ms: number }) {
  return <span class="ago">{ticking(ms)}</span>;
}
