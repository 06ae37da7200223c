// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { WHATS, type AuditFilter } from "../state/audit";
import { fromLocalInput } from "../text/time";

interface Draft {
  what: string;
  principal: string;
  prefix: string;
  /** As the fields have it, in the viewer's zone. */
  since: string;
  until: string;
}

const EMPTY: Draft = { what: "", principal: "", prefix: "", since: "", until: "" };

/** What is empty is left out. */
export function filterOf(draft: Draft): AuditFilter {
  const since = fromLocalInput(draft.since);
  const until = fromLocalInput(draft.until);
  return {
    ...(draft.what === "" ? {} : { what: draft.what }),
    ...(draft.principal === "" ? {} : { principal: draft.principal }),
    ...(draft.prefix === "" ? {} : { prefix: draft.prefix }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

export function AuditFilters({ onFilter }: { onFilter: (filter: AuditFilter) => void }) {
  const [draft, setDraft] = useState(EMPTY);
  const text = (key: Exclude<keyof Draft, "what">, title: string, type: "search" | "datetime-local") => (
    <label>
      <span>{title}</span>
      <input
        type={type}
        data-search={key === "prefix" ? true : undefined}
        step={type === "datetime-local" ? 1 : undefined}
        value={draft[key]}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => { setDraft({ ...draft, [key]: event.currentTarget.value }); }}
      />
    </label>
  );
  return (
    <form
      class="bar audit-filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onFilter(filterOf(draft));
      }}
    >
      <label>
        <span>What</span>
        <select
          value={draft.what}
          onChange={(event) => {
            const next = { ...draft, what: event.currentTarget.value };
            setDraft(next);
            onFilter(filterOf(next));
          }}
        >
          <option value="">everything</option>
          {WHATS.map((what) => (
            <option key={what} value={what}>
              {what.replaceAll("_", " ")}
            </option>
          ))}
        </select>
      </label>
      {text("principal", "Principal", "search")}
      {text("prefix", "Name begins with", "search")}
      {text("since", "Since", "datetime-local")}
      {text("until", "Until", "datetime-local")}
      <button type="submit">Apply</button>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          setDraft(EMPTY);
          onFilter({});
        }}
      >
        Clear
      </button>
    </form>
  );
}
