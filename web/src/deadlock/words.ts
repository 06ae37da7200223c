// SPDX-License-Identifier: Apache-2.0
import type { DeadlockMember } from "../api/types";
import { short } from "../text/duration";
import { visible } from "../text/names";

/** "web-1:4711 holds a and c, waits for b since 4.0s". */
export function memberSentence(member: DeadlockMember): string {
  const names = member.holds.map(visible);
  const last = names.at(-1);
  const list = last === undefined ? "" : names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
  const holds = list === "" ? "" : ` holds ${list},`;
  return `${visible(member.who)}${holds} waits for ${visible(member.waits_for)} since ${short(member.waiting_ms)}`;
}
