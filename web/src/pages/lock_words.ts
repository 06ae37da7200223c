// SPDX-License-Identifier: Apache-2.0
import type { Kind, Lock, Mode, Permits, Said } from "../api/types";
import { counted } from "../text/number";

export const KINDS: Record<Kind, string> = {
  mutex: "mutex",
  reentrant: "re-entrant",
  read_write: "read-write",
  semaphore: "semaphore",
  election: "election",
};

/** "web-1:4711", or what else tells a holder or waiter from the others. */
export function whoOf(said: Said & { party: string | null }): string {
  if (said.host !== null) return said.pid === null ? said.host : `${said.host}:${said.pid}`;
  if (said.program !== null) return said.pid === null ? said.program : `${said.program}:${said.pid}`;
  if (said.pid !== null) return `pid ${said.pid}`;
  if (said.note !== null && said.note !== "") return said.note;
  return said.party === null ? "unknown owner" : `party ${said.party.slice(0, 8)}`;
}

/** What else it said, as far as `whoOf` has not said it. */
export function alsoOf(said: Said & { party: string | null }): string[] {
  const who = whoOf(said);
  return [said.program, said.source, said.note].filter((part): part is string => part !== null && part !== "" && part !== who);
}

/** Whether holders can have different parts of such a lock. */
export const hasShares = (kind: Kind): boolean => kind === "semaphore" || kind === "read_write";

export function shareOf(kind: Kind, mode: Mode, permits: Permits): string {
  if (kind === "semaphore") return permits === "all" ? "all permits" : counted(permits, "permit");
  return kind === "read_write" ? (mode === "shared" ? "shared" : "exclusive") : "";
}

export interface Standing {
  tone: "held" | "free" | "contended";
  text: string;
}

export function standingOf(lock: Pick<Lock, "holders" | "waiters"> | null): Standing {
  if (lock === null || (lock.holders.length === 0 && lock.waiters.length === 0)) return { tone: "free", text: "free" };
  if (lock.holders.length === 0) return { tone: "contended", text: `nobody holds it, ${lock.waiters.length} waiting` };
  const held = lock.holders.length === 1 ? "held" : `held by ${lock.holders.length}`;
  return lock.waiters.length === 0 ? { tone: "held", text: held } : { tone: "contended", text: `${held}, ${lock.waiters.length} waiting` };
}

/** Whether what somebody typed is the name. What cannot be typed may be written as it is shown. */
export function isTyped(typed: string, name: string, shown: string): boolean {
  return typed === name || typed === shown;
}
