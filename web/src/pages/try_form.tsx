// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { KINDS, kindOf } from "../text/kinds";
import type { Wanted } from "../text/snippets";
import type { Faults } from "../text/wanted";

interface Props {
  wanted: Wanted;
  faults: Faults;
  /** Null: it may be sent. */
  refusal: string | null;
  onChange: (wanted: Wanted) => void;
  onSubmit: () => void;
}

interface FieldProps {
  title: string;
  fault: string | undefined;
  wide?: boolean;
  children: (describedBy: string) => ComponentChildren;
}

function Field({ title, fault, wide = false, children }: FieldProps) {
  const id = useId();
  return (
    <label class={wide ? "wide" : ""}>
      <span>{title}</span>
      {children(id)}
      <small id={id} class="bad">
        {fault ?? ""}
      </small>
    </label>
  );
}

export function TryForm({ wanted, faults, refusal, onChange, onSubmit }: Props) {
  const text = (key: "name" | "ttl" | "wait" | "note", title: string, wide = false) => (
    <Field title={title} fault={faults[key]} wide={wide}>
      {(id) => (
        <input
          value={wanted[key]}
          data-search={key === "name" ? true : undefined}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={id}
          aria-invalid={faults[key] !== undefined}
          onInput={(event) => { onChange({ ...wanted, [key]: event.currentTarget.value }); }}
        />
      )}
    </Field>
  );
  const number = (key: "capacity" | "permits", title: string) => (
    <Field title={title} fault={faults[key]}>
      {(id) => (
        <input
          type="number"
          min={1}
          value={wanted[key]}
          aria-describedby={id}
          aria-invalid={faults[key] !== undefined}
          onInput={(event) => { onChange({ ...wanted, [key]: event.currentTarget.valueAsNumber }); }}
        />
      )}
    </Field>
  );
  return (
    <form
      class="try-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {text("name", "Name", true)}
      <Field title="Kind" fault={undefined}>
        {() => (
          <select value={wanted.kind} onChange={(event) => { onChange({ ...wanted, kind: kindOf(event.currentTarget.value) ?? "mutex" }); }}>
            {KINDS.map(({ kind, title }) => (
              <option key={kind} value={kind}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
      {text("ttl", "Lease (ttl)")}
      {text("wait", "Wait at most")}
      {wanted.kind === "read_write" ? (
        <Field title="Mode" fault={undefined}>
          {() => (
            <select value={wanted.mode} onChange={(event) => { onChange({ ...wanted, mode: event.currentTarget.value === "read" ? "read" : "write" }); }}>
              <option value="write">write: alone</option>
              <option value="read">read: together with other readers</option>
            </select>
          )}
        </Field>
      ) : null}
      {wanted.kind === "semaphore" ? number("capacity", "Capacity") : null}
      {wanted.kind === "semaphore" ? number("permits", "Permits") : null}
      {text("note", "Note", true)}
      <div class="submit">
        <button type="submit" class="primary" disabled={refusal !== null}>
          Acquire
        </button>
        <span class="dim">{refusal ?? "Press it twice to see one wait for the other."}</span>
      </div>
    </form>
  );
}
