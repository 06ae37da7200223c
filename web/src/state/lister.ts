// SPDX-License-Identifier: Apache-2.0
//
// Lists all locks now and then, and single ones where an event did not say enough.
import type { Api } from "../api/client";
import { problemOf, type ApiProblem } from "../api/problem";
import type { LockPage } from "../api/types";
import type { Board } from "./board";

const PAGE = 1000;
const TICK_MS = 1000;
/** At most so many single locks are asked for in a second; with more it is cheaper to list. */
export const MAX_SINGLE = 10;
const FEW_ROWS = 2000;
const EVERY_FEW_MS = 30_000;
const EVERY_MANY_MS = 120_000;
const AFTER_FAILURE_MS = 5000;

export interface ListerHooks {
  /** A listing has its first page, with what happened up to this event; null: it failed. */
  began(lastEventId: number | null): void;
  /** Just before a listing counts as complete. */
  beforeEnd(): void;
  /** The board has something new. */
  changed(): void;
}

/** How long after the beginning of one listing the next one is due. */
export function dueAfter(rows: number, wanted: boolean, failed: boolean, tookMs: number): number {
  if (failed) return AFTER_FAILURE_MS;
  // A listing that somebody wants soon still leaves the server ten times as long as it took.
  if (wanted) return Math.max(1000, tookMs * 10);
  return rows < FEW_ROWS ? EVERY_FEW_MS : EVERY_MANY_MS;
}

export class Lister {
  listing = false;
  problem: ApiProblem | null = null;
  readonly #api: Api;
  readonly #board: Board;
  readonly #hooks: ListerHooks;
  #prefix = "";
  #abort = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #wanted = false;
  #began = 0;
  #took = 0;

  constructor(api: Api, board: Board, hooks: ListerHooks) {
    this.#api = api;
    this.#board = board;
    this.#hooks = hooks;
  }

  start(prefix: string): void {
    this.#prefix = prefix;
    this.#abort = new AbortController();
    this.#timer = setInterval(() => { this.#tick(); }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#abort.abort();
    this.listing = false;
    this.#wanted = false;
    this.#board.dropLoad();
  }

  /** As soon as it does not cost the server too much. */
  listSoon(): void {
    this.#wanted = true;
  }

  listNow(): void {
    if (this.listing) this.#wanted = true;
    else void this.#list();
  }

  #tick(): void {
    this.#board.markOverdue(performance.now());
    if (this.#board.dirty > MAX_SINGLE) this.#wanted = true;
    const due = dueAfter(this.#board.rows.size, this.#wanted, this.problem !== null, this.#took);
    if (!this.listing && performance.now() - this.#began >= due) void this.#list();
    else if (this.#board.dirty > 0 && this.#board.dirty <= MAX_SINGLE) this.#single();
    this.#hooks.changed();
  }

  #single(): void {
    const { signal } = this.#abort;
    for (const name of this.#board.takeDirty()) void this.#one(name, signal);
  }

  async #one(name: string, signal: AbortSignal): Promise<void> {
    const before = this.#board.get(name);
    try {
      const lock = await this.#api.lock(name, signal);
      if (!signal.aborted) this.#board.refresh(lock, performance.now());
    } catch (thrown) {
      if (!signal.aborted && problemOf(thrown).status === 404) this.#board.vanish(name, before);
    }
  }

  async #list(): Promise<void> {
    const { signal } = this.#abort;
    this.listing = true;
    this.#wanted = false;
    this.#began = performance.now();
    this.#board.beginLoad();
    try {
      await this.#pages(signal);
      this.#hooks.beforeEnd();
      this.#board.endLoad();
      this.problem = null;
    } catch (thrown) {
      if (signal.aborted) return;
      this.#board.dropLoad();
      this.problem = problemOf(thrown);
      this.#hooks.began(null);
    }
    this.listing = false;
    this.#took = performance.now() - this.#began;
    this.#hooks.changed();
  }

  async #pages(signal: AbortSignal): Promise<void> {
    const ask = (cursor: string | null) => this.#api.locks(this.#prefix, cursor, PAGE, signal);
    let coming: Promise<LockPage> | null = ask(null);
    while (coming !== null) {
      const page: LockPage = await coming;
      signal.throwIfAborted();
      this.#hooks.began(page.last_event_id);
      // With no room left, the rest of a huge store would be asked for in vain. The next page is
      // under way while this one is taken in.
      coming = page.next === null || this.#board.full ? null : ask(page.next);
      coming?.catch(() => undefined);
      this.#board.load(page.locks, performance.now());
      this.#hooks.changed();
    }
  }
}
