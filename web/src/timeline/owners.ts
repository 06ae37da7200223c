// SPDX-License-Identifier: Apache-2.0
//
// Whose an event is. Renewals and releases often say no more than a fence, so the owner of a fence
// is learned from all events before any of them is told apart.
import type { LockEvent } from "../api/types";
import type { Grouping, LiveLock, Owner } from "./span";

export const UNKNOWN = "unknown";

interface Saying {
  host?: string | null;
  pid?: number | null;
  program?: string | null;
  note?: string | null;
  party?: string | null;
  fence?: number | null;
}

function processKey(said: Saying): string | null {
  if (said.host == null && said.pid == null) return null;
  return `process ${said.host ?? ""}:${said.pid ?? ""}`;
}

// Who forces a release is not whom it is taken from.
function ownPrincipal(event: LockEvent): string | null {
  return event.type === "forced" || event.type === "deadlock" ? null : (event.principal ?? null);
}

function keyWithoutFence(event: LockEvent): string | null {
  if (event.party != null) return `party ${event.party}`;
  const process = processKey(event);
  if (process !== null) return process;
  const principal = ownPrincipal(event);
  return principal === null ? null : `principal ${principal}`;
}

function rank(key: string): number {
  if (key.startsWith("party ")) return 0;
  return key.startsWith("process ") ? 1 : 2;
}

export class Owners {
  readonly #ofFence = new Map<number, string>();
  readonly #known = new Map<string, Owner>();

  constructor(events: readonly LockEvent[], lock: LiveLock | null) {
    for (const holder of lock?.holders ?? []) {
      if (holder.party !== null) this.#ofFence.set(holder.fence, `party ${holder.party}`);
    }
    for (const event of events) this.#learnFence(event);
    for (const event of events) {
      const key = this.key(event);
      if (key !== null) this.say(key, event, ownPrincipal(event));
    }
  }

  /** Null where the event is about the lock and no owner of it. */
  key(event: LockEvent): string | null {
    if (event.party != null) return `party ${event.party}`;
    const byFence = event.fence === undefined ? undefined : this.#ofFence.get(event.fence);
    if (byFence !== undefined) return byFence;
    const key = keyWithoutFence(event);
    if (key !== null) return key;
    if (event.type === "forced" || event.type === "deadlock") return null;
    return event.fence === undefined ? UNKNOWN : `fence ${event.fence}`;
  }

  /** Takes down what an owner says of itself; what was said first is kept. */
  say(key: string, said: Saying, principal: string | null = null): Owner {
    let owner = this.#known.get(key);
    if (owner === undefined) {
      owner = { key, host: null, pid: null, program: null, note: null, principal: null, party: null, fence: null };
      this.#known.set(key, owner);
    }
    owner.host ??= said.host ?? null;
    owner.pid ??= said.pid ?? null;
    owner.program ??= said.program ?? null;
    owner.note ??= said.note ?? null;
    owner.principal ??= principal;
    owner.party ??= said.party ?? null;
    owner.fence ??= said.fence ?? null;
    return owner;
  }

  owner(key: string): Owner {
    return this.#known.get(key) ?? this.say(key, {});
  }

  /** The lane of an owner. A process that takes a fresh owner for each lease still has one lane. */
  laneKey(key: string, by: Grouping): string {
    return by === "owner" ? key : (processKey(this.owner(key)) ?? key);
  }

  /** Whom a holder or waiter of the live state is. */
  keyOf(said: Saying): string {
    if (said.party != null) return `party ${said.party}`;
    const byFence = said.fence == null ? undefined : this.#ofFence.get(said.fence);
    return byFence ?? processKey(said) ?? (said.fence == null ? UNKNOWN : `fence ${said.fence}`);
  }

  #learnFence(event: LockEvent): void {
    if (event.fence === undefined) return;
    const key = keyWithoutFence(event);
    if (key === null) return;
    const before = this.#ofFence.get(event.fence);
    if (before === undefined || rank(key) < rank(before)) this.#ofFence.set(event.fence, key);
  }
}

/** Whether no more is known of an owner than on whose behalf it asked, or what it held. */
export function isFaceless(key: string): boolean {
  return key === UNKNOWN || rank(key) > 1;
}

/** A short line that tells an owner from others. */
export function ownerLabel(owner: Owner): string {
  if (owner.host !== null) return owner.pid === null ? owner.host : `${owner.host}:${owner.pid}`;
  if (owner.program !== null) return owner.pid === null ? owner.program : `${owner.program}:${owner.pid}`;
  if (owner.pid !== null) return `pid ${owner.pid}`;
  if (owner.note !== null) return owner.note;
  if (owner.principal !== null) return owner.principal;
  if (owner.party !== null) return `party ${owner.party.slice(0, 8)}`;
  return owner.key === UNKNOWN || owner.fence === null ? "unknown owner" : `fence ${owner.fence}`;
}

/** What else an owner said, for a second, quieter line. */
export function ownerMore(owner: Owner): string {
  const shown = ownerLabel(owner);
  const said = [owner.program, owner.note].filter((part) => part !== null && part !== "" && part !== shown);
  // On whose behalf it asks is the same for many, so it is worth telling only where nothing else is.
  if (said.length === 0 && owner.principal !== null && owner.principal !== shown) return owner.principal;
  return said.join(" · ");
}
