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

interface PartProps {
  form: Props;
  title: string;
}

function TextField({ form, title, field, wide = false }: PartProps & { field: "name" | "ttl" | "wait" | "note"; wide?: boolean }) {
  const { wanted, faults, onChange } = form;
  return (
    <Field title={title} fault={faults[field]} wide={wide}>
      {(id) => (
        <input
          value={wanted[field]}
          data-search={field === "name" ? true : undefined}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={id}
          aria-invalid={faults[field] !== undefined}
          onInput={(event) => { onChange({ ...wanted, [field]: event.currentTarget.value }); }}
        />
      )}
    </Field>
  );
}

function NumberField({ form, title, field }: PartProps & { field: "capacity" | "permits" }) {
  const { wanted, faults, onChange } = form;
  return (
    <Field title={title} fault={faults[field]}>
      {(id) => (
        <input
          type="number"
          min={1}
          value={wanted[field]}
          aria-describedby={id}
          aria-invalid={faults[field] !== undefined}
          onInput={(event) => { onChange({ ...wanted, [field]: event.currentTarget.valueAsNumber }); }}
        />
      )}
    </Field>
  );
}

export function TryForm(form: Props) {
  const { wanted, refusal, onChange, onSubmit } = form;
  return (
    <form
      class="try-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <TextField form={form} title="Name" field="name" wide />
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
      <TextField form={form} title="Lease (ttl)" field="ttl" />
      <TextField form={form} title="Wait at most" field="wait" />
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
      {wanted.kind === "semaphore" ? <NumberField form={form} title="Capacity" field="capacity" /> : null}
      {wanted.kind === "semaphore" ? <NumberField form={form} title="Permits" field="permits" /> : null}
      <TextField form={form} title="Note" field="note" wide />
      <div class="submit">
        <button type="submit" class="primary" disabled={refusal !== null}>
          Acquire
        </button>
        <span class="dim">{refusal ?? "Press it twice to see one wait for the other."}</span>
      </div>
    </form>
  );
}
