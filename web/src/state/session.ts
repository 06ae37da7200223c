// SPDX-License-Identifier: Apache-2.0
import type { Door } from "../api/client";
import { ApiProblem, problemOf } from "../api/problem";
import type { Me, Verb } from "../api/types";

export interface SessionState {
  /** asking: nobody knows yet; out: a token is needed; in: `me` is there. */
  phase: "asking" | "out" | "in";
  me: Me | null;
  /** Why we are still asking, or out. */
  problem: ApiProblem | null;
}

/** The part of sessionStorage that is used. */
export type Keep = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const KEY = "holdfast.token";

/** Each verb includes those before it. */
const VERBS: readonly Verb[] = ["read", "lock", "admin"];

export function may(session: Pick<SessionState, "me">, verb: Verb): boolean {
  const me = session.me;
  if (me === null) return false;
  const wanted = VERBS.indexOf(verb);
  return me.verbs.some((has) => VERBS.indexOf(has) >= wanted);
}

/** What the header says of the role. */
export function roleOf(me: Me): "admin" | "may lock" | "read-only" {
  if (may({ me }, "admin")) return "admin";
  return may({ me }, "lock") ? "may lock" : "read-only";
}

/** Whether a token with these prefixes may touch the name; the server has the last word. */
export function covers(me: Me, name: string): boolean {
  return me.prefixes.length === 0 || me.prefixes.some((prefix) => name.startsWith(prefix));
}

/** Spaces come along when one copies; anything else but visible ASCII cannot stand in a header. */
export function cleanToken(text: string): string | null {
  const token = text.trim();
  return /^[\x21-\x7e]{1,512}$/.test(token) ? token : null;
}

/** Who we are. The token lives here, and in sessionStorage if the user says so; never anywhere else. */
export class Session implements Door {
  readonly base: string;
  state: SessionState = { phase: "asking", me: null, problem: null };
  readonly #keep: Keep | null;
  readonly #listeners = new Set<() => void>();
  #token: string | null;
  #ask: () => Promise<Me> = () => Promise.reject(new ApiProblem(0, "unreachable", "not yet opened"));

  constructor(base: string, keep: Keep | null) {
    this.base = base;
    this.#keep = keep;
    this.#token = keep?.getItem(KEY) ?? null;
  }

  token(): string | null {
    return this.#token;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Asks who we are, with the kept token or without one. */
  async open(ask: () => Promise<Me>): Promise<void> {
    this.#ask = ask;
    await this.retry();
  }

  async retry(): Promise<void> {
    const token = this.#token;
    try {
      const me = await this.#ask();
      if (token === this.#token) this.#set({ phase: "in", me, problem: null });
    } catch (thrown) {
      const problem = problemOf(thrown);
      if (token !== this.#token || this.state.phase === "out") return;
      this.#set(problem.status === 401 ? { phase: "out", me: null, problem: null } : { phase: "asking", me: null, problem });
    }
  }

  /** Tries a token; throws the problem if it is not accepted, and is logged out as before. */
  async login(text: string, keep: boolean): Promise<void> {
    const token = cleanToken(text);
    if (token === null) throw new ApiProblem(0, "bad_input", "This is not a token. Tokens begin with hf_ and have no spaces.");
    this.#token = token;
    try {
      const me = await this.#ask();
      if (keep) this.#keep?.setItem(KEY, token);
      this.#set({ phase: "in", me, problem: null });
    } catch (thrown) {
      this.#token = null;
      throw problemOf(thrown);
    }
  }

  logout(problem: ApiProblem | null = null): void {
    this.#token = null;
    this.#keep?.removeItem(KEY);
    this.#set({ phase: "out", me: null, problem });
  }

  refused(token: string | null): void {
    // An answer to an older request says nothing about the token that we have now.
    if (token !== this.#token || this.state.phase === "out") return;
    const known = token !== null || this.state.phase === "in";
    this.logout(known ? new ApiProblem(401, "unauthenticated", "The token is no longer accepted. It may have expired or been revoked.") : null);
  }

  #set(state: SessionState): void {
    this.state = state;
    for (const listener of this.#listeners) listener();
  }
}
