// SPDX-License-Identifier: Apache-2.0
//
// The locks that this tab has taken to try them. They live beside the pages, so that a lease is
// renewed while one looks at another page.
import type { Api } from "../api/client";
import { problemOf, type ApiProblem } from "../api/problem";
import type { Lease } from "../api/types";
import { parseDuration } from "../text/duration";
import { bodyOf, type Wanted } from "../text/snippets";

export interface Try {
  id: number;
  wanted: Wanted;
  /** Tells this one from the others in the queue. */
  source: string;
  phase: "waiting" | "held" | "ended";
  since: number;
  lease: Lease | null;
  /** When we must stop believing in it. */
  expires_at: number;
  span: number;
  /** Renew it again and again. */
  auto: boolean;
  problem: ApiProblem | null;
  /** How it ended, in a few words. */
  outcome: string;
}

const MOST = 12;

/**
 * Until when the lease is ours, by our own clock: counted from before the request was sent, and
 * shortened by what clocks may differ.
 */
export function validUntil(sent: number, lease: Pick<Lease, "waited_ms" | "expires_in_ms">): number {
  return sent + lease.waited_ms + lease.expires_in_ms - lease.expires_in_ms / 100 - 2;
}

export class Tries {
  list: readonly Try[] = [];
  readonly #api: Api;
  readonly #listeners = new Set<() => void>();
  readonly #waits = new Map<number, AbortController>();
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #tab: string;
  #next = 1;

  /** `tab` tells this tab from others. */
  constructor(api: Api, tab: string) {
    this.#api = api;
    this.#tab = tab;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  }

  async start(wanted: Wanted): Promise<void> {
    if (this.full) return;
    const id = this.#next++;
    const abort = new AbortController();
    const source = `dashboard ${this.#tab}-${id}`;
    const sent = performance.now();
    this.#waits.set(id, abort);
    const fresh: Try = { id, wanted, source, phase: "waiting", since: sent, lease: null, expires_at: 0, span: 0, auto: true, problem: null, outcome: "" };
    this.#set([fresh, ...this.#withRoom()]);
    const body = bodyOf(wanted);
    body.metadata = { ...body.metadata, program: "dashboard", source };
    try {
      const lease = await this.#api.acquire(wanted.name, body, abort.signal);
      this.#held(id, lease, sent);
    } catch (thrown) {
      const problem = problemOf(thrown);
      this.#end(id, problem.code === "cancelled" ? "cancelled" : "not acquired", problem);
    }
    this.#waits.delete(id);
  }

  /** As many wait or are held as the page has room for. */
  get full(): boolean {
    return this.list.filter((one) => one.phase !== "ended").length >= MOST;
  }

  cancel(id: number): void {
    this.#waits.get(id)?.abort();
  }

  async renew(id: number): Promise<void> {
    const one = this.#find(id);
    if (one?.lease == null || one.phase !== "held") return;
    const sent = performance.now();
    try {
      const lease = await this.#api.renew(one.wanted.name, { owner: one.lease.owner, ttl: one.wanted.ttl });
      this.#held(id, { ...one.lease, ...lease, waited_ms: 0 }, sent);
    } catch (thrown) {
      const problem = problemOf(thrown);
      if (problem.code === "not_held" || problem.code === "not_owner") this.#end(id, "lost: its lease had ended", problem);
      else {
        this.#change(id, { problem });
        this.#plan(id);
      }
    }
  }

  setAuto(id: number, auto: boolean): void {
    this.#change(id, { auto });
    this.#plan(id);
  }

  async release(id: number): Promise<void> {
    const one = this.#find(id);
    if (one?.lease == null || one.phase !== "held") return;
    try {
      await this.#api.release(one.wanted.name, { owner: one.lease.owner });
      this.#end(id, "released", null);
    } catch (thrown) {
      const problem = problemOf(thrown);
      if (problem.code === "not_held" || problem.code === "not_owner") this.#end(id, "lost: its lease had ended", problem);
      else this.#change(id, { problem });
    }
  }

  /** Takes one that has ended off the page. */
  remove(id: number): void {
    this.#set(this.list.filter((one) => one.id !== id || one.phase !== "ended"));
  }

  /** Before one logs out: gives back what there is, as far as the token still allows it. */
  releaseAll(): void {
    for (const one of this.list) {
      this.cancel(one.id);
      void this.release(one.id);
      clearTimeout(this.#timers.get(one.id));
    }
    this.#set([]);
  }

  /** Without the oldest that have ended, where there are too many. */
  #withRoom(): Try[] {
    let over = this.list.length + 1 - MOST;
    return [...this.list]
      .reverse()
      .filter((one) => one.phase !== "ended" || over-- <= 0)
      .reverse();
  }

  #find(id: number): Try | undefined {
    return this.list.find((one) => one.id === id);
  }

  #held(id: number, lease: Lease, sent: number): void {
    const one = this.#find(id);
    // Somebody has logged out meanwhile, so nobody could release it any more.
    if (one === undefined) {
      void this.#api.release(lease.name, { owner: lease.owner }).catch(() => undefined);
      return;
    }
    const since = one.phase === "held" ? one.since : performance.now();
    this.#change(id, { phase: "held", since, lease, expires_at: validUntil(sent, lease), span: Math.max(one.span, lease.expires_in_ms), problem: null });
    this.#plan(id);
  }

  /** Sets the alarm for the next renewal, or for the end of the lease. */
  #plan(id: number): void {
    clearTimeout(this.#timers.get(id));
    const one = this.#find(id);
    if (one?.phase !== "held") return;
    const left = one.expires_at - performance.now();
    const ttl = parseDuration(one.wanted.ttl) ?? 30_000;
    const next = one.auto ? Math.min(left, one.problem === null ? ttl / 3 : 1000) : left;
    this.#timers.set(id, setTimeout(() => { this.#alarm(id); }, Math.max(0, next)));
  }

  #alarm(id: number): void {
    const one = this.#find(id);
    if (one?.phase !== "held") return;
    if (performance.now() >= one.expires_at) this.#end(id, "lost: its lease has ended", one.problem);
    else void this.renew(id);
  }

  #end(id: number, outcome: string, problem: ApiProblem | null): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#change(id, { phase: "ended", outcome, problem });
  }

  #change(id: number, change: Partial<Try>): void {
    this.#set(this.list.map((one) => (one.id === id ? { ...one, ...change } : one)));
  }

  #set(list: readonly Try[]): void {
    this.list = list;
    for (const listener of this.#listeners) listener();
  }
}
