// SPDX-License-Identifier: Apache-2.0
import { useId } from "preact/hooks";
import "../style/choice.css";

interface Props<T extends string> {
  label: string;
  options: readonly { value: T; title: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** One of a few, side by side: radio buttons that look like a switch. */
export function Choice<T extends string>({ label, options, value, onChange }: Props<T>) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class="hidden-visually">{label}</legend>
      {options.map((option) => (
        <label key={option.value} class="inline">
          <input type="radio" class="hidden-visually" name={name} checked={option.value === value} onChange={() => { onChange(option.value); }} />
          <span>{option.title}</span>
        </label>
      ))}
    </fieldset>
  );
}
