// SPDX-License-Identifier: Apache-2.0
//
// All locks, from listings and events. Pure: no DOM and no timers; time is a parameter.
import type { Lock, LockEvent } from "../api/types";
import { applyTo, rowOf, type Row } from "./row";

export const MAX_ROWS = 20_000;
/** Events that are kept for replay while a listing is under way. */
export const MAX_LOG = 20_000;

/** Clocks, and events that are on their way, are given so long before we ask. */
const OVERDUE_MS = 1000;

interface Logged {
  event: LockEvent;
  now: number;
}

export class Board {
  readonly rows = new Map<string, Row>();
  /** Grows whenever a row changes. */
  version = 0;
  /** There are more locks than are kept here. */
  overflow = false;
  /** The listing under way has brought as many as are kept. */
  full = false;
  /** A listing has been complete at least once. */
  complete = false;
  waiters = 0;
  readonly #dirty = new Set<string>();
  #seen: Set<string> | null = null;
  /**
   * What happened since the listing began. A listed row may be older or newer than an event, so the
   * events are applied to it again, which changes nothing that it has already. Null for a name
   * whose events found no room: its row is left as the events made it.
   */
  #log = new Map<string, Logged[] | null>();
  #logged = 0;

  get(name: string): Row | undefined {
    return this.rows.get(name);
  }

  beginLoad(): void {
    this.#seen = new Set();
    this.full = false;
    this.#log = new Map();
    this.#logged = 0;
    this.#dirty.clear();
  }

  /** One page of a listing. */
  load(locks: readonly Lock[], now: number): void {
    const seen = this.#seen;
    for (const lock of locks) {
      if (seen !== null && seen.size >= MAX_ROWS) {
        this.full = true;
        return;
      }
      seen?.add(lock.name);
      const events = this.#log.get(lock.name);
      if (events === null) continue;
      this.#put(lock.name, rowOf(lock, this.rows.get(lock.name), now));
      for (const { event, now: then } of events ?? []) this.#step(event, then);
    }
  }

  /** The listing is complete: what it did not have, and no event touched meanwhile, is gone. */
  endLoad(): void {
    const seen = this.#seen;
    if (seen === null) return;
    for (const name of this.rows.keys()) {
      if (!seen.has(name) && !this.#log.has(name)) this.#put(name, null);
    }
    this.overflow = this.full;
    this.complete = true;
    this.dropLoad();
  }

  /** The listing came to nothing; what it brought so far is kept. */
  dropLoad(): void {
    this.#seen = null;
    this.#log = new Map();
    this.#logged = 0;
  }

  /** Says "list" where only a full listing helps. */
  apply(event: LockEvent, now: number): "done" | "list" {
    if (event.type === "store_changed") return "list";
    if (event.name === "" || event.type === "deadlock") return "done";
    this.#remember(event, now);
    this.#step(event, now);
    return "done";
  }

  /** One lock that was asked for by itself. */
  refresh(lock: Lock, now: number): void {
    this.#put(lock.name, rowOf(lock, this.rows.get(lock.name), now));
  }

  /** The server knows nothing of it. `row` is what we had when we asked. */
  vanish(name: string, row: Row | undefined): void {
    if (this.rows.get(name) === row) this.#put(name, null);
    else this.#dirty.add(name);
  }

  markDirty(name: string): void {
    this.#dirty.add(name);
  }

  /** Marks locks with a lease that should be over: not every store says so when one ends by itself. */
  markOverdue(now: number): void {
    for (const row of this.rows.values()) {
      if (row.holders.some((held) => held.expires_at !== null && held.expires_at + OVERDUE_MS < now)) this.#dirty.add(row.name);
    }
  }

  get dirty(): number {
    return this.#dirty.size;
  }

  takeDirty(): string[] {
    const names = [...this.#dirty];
    this.#dirty.clear();
    return names;
  }

  clear(): void {
    this.rows.clear();
    this.#dirty.clear();
    this.dropLoad();
    this.waiters = 0;
    this.overflow = false;
    this.complete = false;
    ++this.version;
  }

  #remember(event: LockEvent, now: number): void {
    if (this.#seen === null) return;
    const events = this.#log.get(event.name);
    if (events === null) return;
    if (this.#logged >= MAX_LOG) {
      this.#log.set(event.name, null);
      return;
    }
    ++this.#logged;
    if (events) events.push({ event, now });
    else this.#log.set(event.name, [{ event, now }]);
  }

  #step(event: LockEvent, now: number): void {
    const before = this.rows.get(event.name);
    // Of the names for which there was no room nothing is known, and nothing is asked.
    if (before === undefined && (this.overflow || this.rows.size >= MAX_ROWS)) {
      this.overflow = true;
      return;
    }
    const { row, dirty } = applyTo(before, event, now);
    if (dirty) this.#dirty.add(event.name);
    if (row !== (before ?? null)) this.#put(event.name, row);
  }

  #put(name: string, row: Row | null): void {
    const before = this.rows.get(name);
    // A listing may push out rows that are gone already, so it alone may have more for a moment.
    if (row !== null && before === undefined && this.#seen === null && this.rows.size >= MAX_ROWS) {
      this.overflow = true;
      return;
    }
    this.waiters += (row?.waiters.length ?? 0) - (before?.waiters.length ?? 0);
    if (row === null) this.rows.delete(name);
    else this.rows.set(name, row);
    ++this.version;
  }
}
