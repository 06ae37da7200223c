// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { toasts } from "../state/toasts";
import { visible } from "../text/names";
import "../style/parts.css";

export { toast } from "../state/toasts";

/** Where toasts appear; the shell has one. Use `toast(text, tone)` to say something. */
export function Toast() {
  const [list, setList] = useState(toasts.list);
  useEffect(() => toasts.subscribe(() => { setList(toasts.list); }), []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map((toast) => (
        <div key={toast.id} class={`toast ${toast.tone}`}>
          <bdi>{visible(toast.text)}</bdi>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => { toasts.drop(toast.id); }}>
            <span aria-hidden="true">×</span>
          </button>
        </div>
      ))}
    </div>
  );
}
