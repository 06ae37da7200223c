// SPDX-License-Identifier: Apache-2.0
import { useLive, useNow } from "../state/context";
import { liveText } from "./live_text";

export function LiveState() {
  const status = useLive();
  const now = useNow(1000);
  const text = liveText(status, now);
  const why = status.state === "live" ? undefined : status.problem?.detail;
  return (
    <div class={`live-state ${text.tone}`} title={why}>
      <span class="dot" aria-hidden="true" />
      <strong role="status">{text.word}</strong>
      <span class="dim">{text.more}</span>
    </div>
  );
}
