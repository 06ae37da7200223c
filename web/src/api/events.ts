// SPDX-License-Identifier: Apache-2.0
//
// The server's events by fetch, because EventSource cannot send an Authorization header.
import { headersFor, query, type Door } from "./client";
import { ApiProblem, problemOf } from "./problem";
import { SseParser } from "./sse";
import type { LockEvent } from "./types";

export type StreamState = "connecting" | "live" | "stale";

export interface StreamHooks {
  onEvent(event: LockEvent): void;
  /** Events are gone that we cannot get any more: list again. */
  onMissed(): void;
  /** The stream is open, again or for the first time. */
  onOpen(): void;
  onState(state: StreamState, problem: ApiProblem | null): void;
}

/** The server sends at least a comment every 15 s. */
export const SILENCE_MS = 25_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** How long to wait before the given attempt (0 is the first): doubled each time, and up to half of it by chance. */
export function backOff(attempt: number, chance: number): number {
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 10));
  return Math.round(full * (0.5 + chance / 2));
}

/** The event that the data of a stream's event say, or null. */
export function eventOf(data: string): LockEvent | null {
  try {
    const parsed = JSON.parse(data) as Partial<LockEvent> | null;
    return parsed !== null && typeof parsed.type === "string" && typeof parsed.name === "string" ? (parsed as LockEvent) : null;
  } catch {
    return null;
  }
}

export class EventStream {
  state: StreamState = "connecting";
  /** When the last byte came, by performance.now(); null: never. */
  lastByteAt: number | null = null;
  readonly #door: Door;
  readonly #hooks: StreamHooks;
  readonly #prefix: string;
  #lastId = "";
  #attempt = 0;
  #stopped = false;
  #abort: AbortController | null = null;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(door: Door, prefix: string, hooks: StreamHooks) {
    this.#door = door;
    this.#prefix = prefix;
    this.#hooks = hooks;
  }

  /** With `after`, it begins with what happened after that event. */
  start(after: number | null = null): void {
    if (after !== null) this.#lastId = `${after}`;
    void this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    this.#abort?.abort();
  }

  /** Tries at once if it is between two attempts. */
  wake(): void {
    if (this.#stopped || this.#abort !== null) return;
    clearTimeout(this.#retryTimer);
    void this.#connect();
  }

  async #connect(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#listenForSilence();
    let problem: ApiProblem;
    try {
      await this.#read(abort.signal);
      problem = new ApiProblem(0, "unreachable", "The server closed the event stream.");
    } catch (thrown) {
      problem = problemOf(thrown);
    }
    clearTimeout(this.#silenceTimer);
    this.#abort = null;
    if (!this.#stopped) this.#again(problem);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const headers = headersFor(this.#door);
    headers.set("Accept", "text/event-stream");
    if (this.#lastId !== "") headers.set("Last-Event-ID", this.#lastId);
    const token = this.#door.token();
    const url = new URL(`v1/events${query({ prefix: this.#prefix })}`, this.#door.base);
    const response = await fetch(url, { headers, signal, cache: "no-store", credentials: "omit", redirect: "error" });
    if (response.status === 401) this.#door.refused(token);
    if (!response.ok || response.body === null) {
      throw new ApiProblem(response.status, "unavailable", `The event stream was refused with status ${response.status}.`);
    }
    this.#heard();
    this.#hooks.onOpen();
    const parser = new SseParser((event) => {
      if (event.id !== "") this.#lastId = event.id;
      if (event.type === "missed") {
        this.#hooks.onMissed();
        return;
      }
      const parsed = eventOf(event.data);
      if (parsed !== null) this.#hooks.onEvent(parsed);
    });
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#stopped) return;
      this.#heard();
      parser.push(decoder.decode(value, { stream: true }));
    }
  }

  #heard(): void {
    this.#attempt = 0;
    this.lastByteAt = performance.now();
    this.#listenForSilence();
    this.#become("live", null);
  }

  #listenForSilence(): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => this.#abort?.abort(), SILENCE_MS);
  }

  #again(problem: ApiProblem): void {
    this.#become(this.lastByteAt === null ? "connecting" : "stale", problem);
    this.#retryTimer = setTimeout(() => void this.#connect(), backOff(this.#attempt, Math.random()));
    ++this.#attempt;
  }

  #become(state: StreamState, problem: ApiProblem | null): void {
    if (state === this.state && problem === null) return;
    this.state = state;
    this.#hooks.onState(state, problem);
  }
}
