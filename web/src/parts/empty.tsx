// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import "../style/parts.css";

/** Nothing is there: says why, and what one can do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children === undefined ? null : <div class="dim">{children}</div>}
    </div>
  );
}
