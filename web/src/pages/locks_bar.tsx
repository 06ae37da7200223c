// SPDX-License-Identifier: Apache-2.0
import type { SortKey, View } from "../state/view";
import { MAX_ROWS } from "../state/board";
import { KINDS, kindOf } from "../text/kinds";
import { visible } from "../text/names";
import { count } from "../text/number";

interface Props {
  view: View;
  onView: (view: View) => void;
  /** A key in the search field, which may lead into the table. */
  onEnter: (event: KeyboardEvent) => void;
  /** Only names that begin so are loaded at all. */
  narrowed: string;
  overflow: boolean;
  onNarrow: (prefix: string) => void;
}

const SORTS: readonly { sort: SortKey; down: boolean; title: string }[] = [
  { sort: "queue", down: true, title: "Longest queue" },
  { sort: "wait", down: true, title: "Longest wait" },
  { sort: "age", down: true, title: "Held longest" },
  { sort: "name", down: false, title: "Name" },
];

function Overflow({ view, narrowed, overflow, onNarrow }: Props) {
  if (!overflow && narrowed === "") return null;
  return (
    <div class={overflow ? "note warn" : "note"} role="status">
      <p>
        {overflow ? `Only the first ${count(MAX_ROWS)} locks are shown; there are more. Narrow by prefix to see others. ` : null}
        {narrowed === "" ? null : `Only names that begin with “${visible(narrowed)}” are loaded.`}
      </p>
      <span class="bar">
        {overflow && view.prefix !== narrowed ? (
          <button type="button" onClick={() => { onNarrow(view.prefix); }}>
            Load only “{visible(view.prefix)}…”
          </button>
        ) : null}
        {narrowed === "" ? null : (
          <button type="button" onClick={() => { onNarrow(""); }}>
            Load all
          </button>
        )}
      </span>
    </div>
  );
}

export function LocksBar(props: Props) {
  const { view, onView, onEnter } = props;
  return (
    <>
      <div class="bar" role="search">
        <label class="search">
          <span>Name begins with</span>
          <input
            type="search"
            data-search
            value={view.prefix}
            placeholder="orders:"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => { onView({ ...view, prefix: event.currentTarget.value }); }}
            onKeyDown={onEnter}
          />
        </label>
        <label>
          <span>Kind</span>
          <select value={view.kind ?? ""} onChange={(event) => { onView({ ...view, kind: kindOf(event.currentTarget.value) }); }}>
            <option value="">every kind</option>
            {KINDS.map(({ kind, title }) => (
              <option key={kind} value={kind}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label class="sort-choice">
          <span>Sort by</span>
          <select
            value={view.sort}
            onChange={(event) => {
              const chosen = SORTS.find(({ sort }) => sort === event.currentTarget.value);
              if (chosen !== undefined) onView({ ...view, sort: chosen.sort, down: chosen.down });
            }}
          >
            {SORTS.map(({ sort, title }) => (
              <option key={sort} value={sort}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Overflow {...props} />
    </>
  );
}
