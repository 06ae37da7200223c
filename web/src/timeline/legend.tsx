// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { Glyph, Patterns } from "./glyphs";
import type { MarkType } from "./span";

function Item({ children, label }: { children: ComponentChildren; label: string }) {
  return (
    <li>
      <svg class="timeline-key" width="24" height="16" aria-hidden="true">{children}</svg>
      {label}
    </li>
  );
}

const MARKS: readonly [MarkType, string][] = [
  ["expired", "expired"],
  ["lost", "lost"],
  ["forced", "forced"],
  ["left", "gave up"],
  ["deadlock", "deadlock"],
];

export function Legend({ id }: { id: string }) {
  return (
    <ul class="timeline-legend" aria-label="Legend">
      <Item label="holds"><rect class="hold" x="1" y="1" width="22" height="14" rx="3" /></Item>
      <Item label="renewed"><rect class="hold" x="1" y="1" width="22" height="14" rx="3" /><g transform="translate(12 8)"><Glyph type="renewed" /></g></Item>
      <Item label="waits"><Patterns id={`${id}l`} /><rect class="wait" x="1" y="4" width="22" height="8" fill={`url(#${id}lwait)`} /></Item>
      <Item label="handed over, not confirmed"><rect class="claim" x="1" y="1" width="22" height="14" rx="3" fill={`url(#${id}lclaim)`} /></Item>
      <Item label="hand-over"><path class="hand-over" d="M 2 8 L 21 8" marker-end={`url(#${id}ltip)`} /></Item>
      {MARKS.map(([type, label]) => (
        <Item key={type} label={label}><g transform="translate(12 8)"><Glyph type={type} /></g></Item>
      ))}
    </ul>
  );
}
