// SPDX-License-Identifier: Apache-2.0
//
// Joins the stream of events and the listings into the board, a few times a second at most.
import type { Api, Door } from "../api/client";
import { EventStream, type StreamState } from "../api/events";
import type { ApiProblem } from "../api/problem";
import type { LockEvent } from "../api/types";
import type { Board } from "./board";
import { Rate, Skew } from "./clock";
import { Lister } from "./lister";

const FLUSH_MS = 250;
const FLUSH_HIDDEN_MS = 2000;
/** A hidden tab's timers may stand still for a minute, the stream does not. */
const MAX_QUEUE = 5000;

export interface LiveStatus {
  state: StreamState;
  /** Why it is not live. */
  problem: ApiProblem | null;
  /** By performance.now(); null: nothing has come yet. */
  lastByteAt: number | null;
  eventsPerSecond: number;
  /** A listing is under way. */
  listing: boolean;
  listProblem: ApiProblem | null;
}

export class Live {
  /** Only names that begin so are shown; empty: all. */
  prefix = "";
  readonly #door: Door;
  readonly #board: Board;
  readonly #lister: Lister;
  readonly #listeners = new Set<() => void>();
  readonly #eventListeners = new Set<(events: readonly LockEvent[]) => void>();
  readonly #skew = new Skew();
  readonly #rate = new Rate();
  #stream: EventStream | null = null;
  /** The stream waits for the first page, whose last event it goes on from: so nothing is missed between them. */
  #follows = false;
  #isJoined = false;
  #problem: ApiProblem | null = null;
  #queue: LockEvent[] = [];
  #flushTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, door: Door, board: Board) {
    this.#door = door;
    this.#board = board;
    this.#lister = new Lister(api, board, {
      began: (lastEventId) => { this.#follow(lastEventId); },
      beforeEnd: () => { this.#drain(); },
      changed: () => { this.#tell(); },
    });
  }

  get status(): LiveStatus {
    return {
      state: this.#stream?.state ?? "connecting",
      problem: this.#problem,
      lastByteAt: this.#stream?.lastByteAt ?? null,
      eventsPerSecond: this.#rate.value(performance.now()),
      listing: this.#lister.listing,
      listProblem: this.#lister.problem,
    };
  }

  get running(): boolean {
    return this.#stream !== null;
  }

  /** Told when the board or the status may have changed, at most a few times a second. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  }

  /** Gets the events themselves, in batches. */
  listen(listener: (events: readonly LockEvent[]) => void): () => void {
    this.#eventListeners.add(listener);
    return () => { this.#eventListeners.delete(listener); };
  }

  start(): void {
    this.stop();
    const stream = new EventStream(this.#door, this.prefix, {
      onEvent: (event) => { this.#take(event); },
      onMissed: () => { this.#lister.listSoon(); },
      // Behind a load balancer the server may be another one, so a list is due after each reconnect.
      onOpen: () => {
        if (this.#isJoined) this.#isJoined = false;
        else this.#lister.listNow();
      },
      onState: (_, problem) => {
        this.#problem = problem;
        this.#tell();
      },
    });
    this.#stream = stream;
    this.#follows = false;
    this.#lister.start(this.prefix);
    this.#lister.listNow();
  }

  stop(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    this.#stream?.stop();
    this.#stream = null;
    this.#lister.stop();
    this.#queue = [];
    this.#problem = null;
  }

  /** The network is back, or somebody looks again. */
  wake(): void {
    this.#stream?.wake();
    this.#flush();
  }

  /** Keeps to names that begin so, for stores with more locks than a page can hold. */
  narrow(prefix: string): void {
    this.prefix = prefix;
    this.#board.clear();
    this.start();
    this.#tell();
  }

  /** Asks for one lock again, soon. */
  refresh(name: string): void {
    this.#board.markDirty(name);
  }

  #follow(lastEventId: number | null): void {
    if (this.#follows) return;
    this.#follows = true;
    this.#isJoined = lastEventId !== null;
    this.#stream?.start(lastEventId);
  }

  #take(event: LockEvent): void {
    this.#queue.push(event);
    if (this.#queue.length >= MAX_QUEUE) this.#flush();
    else this.#flushTimer ??= setTimeout(() => { this.#flush(); }, document.hidden ? FLUSH_HIDDEN_MS : FLUSH_MS);
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    this.#drain();
    this.#tell();
  }

  #drain(): void {
    const events = this.#queue;
    if (events.length === 0) return;
    this.#queue = [];
    const now = performance.now();
    const wall = Date.now();
    this.#rate.add(events.length, now);
    let list = false;
    for (const event of events) {
      list = this.#board.apply(event, now - this.#skew.age(event.at, wall)) === "list" || list;
    }
    if (list) this.#lister.listSoon();
    for (const listener of this.#eventListeners) listener(events);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
