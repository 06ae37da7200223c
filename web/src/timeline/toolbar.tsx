// SPDX-License-Identifier: Apache-2.0
import type { Grouping } from "./span";
import type { Control } from "./use_control";

interface Props {
  control: Control;
  paused: boolean;
  /** Events that came while it stood still. */
  fresh: number;
  toggle: () => void;
  by: Grouping;
  setBy: (by: Grouping) => void;
}

const ZOOM = 0.6;

export function Toolbar({ control, paused, fresh, toggle, by, setBy }: Props) {
  return (
    <div class="timeline-bar" role="group" aria-label="What the timeline shows">
      <button type="button" class={paused ? "primary" : ""} aria-pressed={paused} onClick={toggle}>
        {paused ? "Resume" : "Pause"}
      </button>
      <span class="timeline-fresh dim" role="status">{paused && fresh > 0 ? `${fresh} new` : ""}</span>
      <button type="button" aria-pressed={control.follows} onClick={control.followNow} disabled={paused}>
        Follow
      </button>
      <span class="timeline-zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => { control.zoomAt(null, 1 / ZOOM); }}>−</button>
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => { control.zoomAt(null, ZOOM); }}>+</button>
        <button type="button" title="Show everything (0)" onClick={control.fitAll}>Fit</button>
      </span>
      <label class="inline timeline-by">
        <span class="dim">A lane for each</span>
        <select value={by} onChange={(event) => { setBy(event.currentTarget.value === "owner" ? "owner" : "process"); }}>
          <option value="process">process</option>
          <option value="owner">owner</option>
        </select>
      </label>
    </div>
  );
}
