// SPDX-License-Identifier: Apache-2.0
import type { Said } from "../api/types";
import { Name } from "./name";

/** The parts of what a holder or waiter said of itself, the most telling first. */
export function saidParts(said: Said): string[] {
  const process = [said.program, said.pid === null ? null : String(said.pid)].filter((part) => part !== null && part !== "").join(" ");
  return [said.host, process, said.note].filter((part): part is string => part !== null && part !== "");
}

interface Props {
  said: Said;
  /** Without the note. */
  brief?: boolean;
}

/** A holder or waiter on one line: host, program and pid, note. */
export function Who({ said, brief = false }: Props) {
  const parts = saidParts(brief ? { ...said, note: null } : said);
  if (parts.length === 0) return <span class="dim">said nothing</span>;
  return (
    <span class="who-line">
      {parts.map((part, i) => (
        <span key={i} class={i === 0 ? "host" : "rest dim"}>
          {i === 0 ? null : " · "}
          <Name name={part} />
        </span>
      ))}
    </span>
  );
}
