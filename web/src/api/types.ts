// SPDX-License-Identifier: Apache-2.0
//
// What the server answers: the shapes of docs/json.md and docs/http-api.md.

export type Kind = "mutex" | "reentrant" | "read_write" | "semaphore" | "election";
export type Mode = "exclusive" | "shared";
export type Permits = number | "all";
export type Verb = "read" | "lock" | "admin";

/** What a holder or waiter says of itself; null where it said nothing. */
export interface Said {
  host: string | null;
  pid: number | null;
  program: string | null;
  source: string | null;
  note: string | null;
}

export interface Holder extends Said {
  fence: number;
  permits: Permits;
  mode: Mode;
  /** The same wherever the same owner holds or waits; null where no owner is known. */
  party: string | null;
  /** Handed over, not yet confirmed by its new holder. */
  claimed: boolean;
  expires_in_ms: number;
  acquired_at: string;
  held_ms: number;
  value?: string;
}

export interface Waiter extends Said {
  permits: Permits;
  mode: Mode;
  party: string | null;
  waiting_ms: number;
}

/** What one server of a redlock store says of a lock. */
export interface Member {
  address: string;
  state: "free" | "held" | "unreachable" | "too_slow" | "refused";
  counts: boolean;
  fence: number | null;
  party: string | null;
  holders: number;
  expires_in_ms: number;
  reason: string | null;
}

export interface Lock {
  name: string;
  kind: Kind;
  capacity: number | null;
  order: "automatic" | "fifo" | "barging";
  holders: Holder[];
  waiters: Waiter[];
  members?: Member[];
}

export interface LockPage {
  locks: Lock[];
  next: string | null;
  /** What happened up to this event is in the page; later ones may be. */
  last_event_id: number;
}

export type EventType =
  | "acquired"
  | "queued"
  | "left"
  | "renewed"
  | "released"
  | "expired"
  | "lost"
  | "forced"
  | "store_changed"
  | "deadlock";

/** Something that happened to a lock. What is not known is left out. */
export interface LockEvent {
  id: number;
  type: EventType;
  /** Empty for store_changed. */
  name: string;
  at: string;
  source: "server" | "observed";
  fence?: number;
  reason?: string;
  principal?: string;
  kind?: Kind;
  mode?: Mode;
  host?: string;
  pid?: number;
  program?: string;
  note?: string;
  party?: string;
  /** Of acquired and renewed: what was left of the lease then. */
  expires_in_ms?: number;
  /** Of acquired and left: how long it had waited. */
  waited_ms?: number;
  /** Of released, expired, lost and forced: how long it had been held. */
  held_ms?: number;
}

/** counts[i] is how many took up to bounds_ms[i]; the last one has no bound. */
export interface Histogram {
  bounds_ms: number[];
  counts: number[];
  count: number;
  sum_ms: number;
}

/** GET /v1/locks/NAME/timeline. */
export interface Timeline {
  name: string;
  /** The oldest first. */
  events: LockEvent[];
  /** Whether there were older ones, which are no longer kept. */
  truncated: boolean;
  waits: Histogram;
  holds: Histogram;
}

/** GET /v1/me: whose token this is. */
export interface Me {
  name: string;
  verbs: Verb[];
  /** Of names; empty: every name. */
  prefixes: string[];
  expires_at: string | null;
  /** False: this server asks for no tokens, and everybody may do everything. */
  needs_token: boolean;
}

/** GET /v1/stats. */
export interface Stats {
  held_locks: number | null;
  waiters_on_store: number | null;
  waiters: number;
  connections: number;
  sessions: number;
  event_streams: number;
  store_up: boolean;
}

export type Span = "1m" | "15m" | "1h";

/** GET /v1/stats/history: columns of equal length, the oldest first; null where it is not known. */
export interface StatsHistory {
  span: Span;
  step_ms: number;
  /** When each step ended. */
  at: string[];
  held: (number | null)[];
  waiters: (number | null)[];
  acquired_per_s: (number | null)[];
  refused_per_s: (number | null)[];
  /** Null where nobody was granted a lock after a wait. */
  wait_p50_ms: (number | null)[];
  wait_p99_ms: (number | null)[];
  lost: (number | null)[];
  expired: (number | null)[];
  store_p99_ms: (number | null)[];
  store_failures: (number | null)[];
}

/** GET /v1/contention. */
export interface ContendedName {
  name: string;
  /** How many were refused at once, because they did not want to wait. */
  refused: number;
  /** How many waits ended, whatever came of them. */
  waited: number;
  waited_ms: number;
  longest_ms: number;
}

export interface DeadlockMember {
  who: string;
  holds: string[];
  waits_for: string;
  waiting_ms: number;
}

export interface Deadlock {
  id: string;
  since: string;
  members: DeadlockMember[];
}

/** GET /v1/rate-limits: those that were checked through this server, the newest first. */
export interface RateLimit {
  scope: string;
  /** "100/m", and what else the rule says. */
  rate: string;
  algorithm: string;
  layout: string;
  limit: number;
  window_ms: number;
  allowed: number;
  denied: number;
  count: number;
  remaining: number;
  reset_ms: number;
  last_at: string;
  last_denied_at: string | null;
}

export interface AuditEntry {
  seq: number;
  at: string;
  what: string;
  name?: string;
  fence?: number;
  principal?: string;
  client?: string;
  reason?: string;
  request_id?: string;
}

export interface AuditPage {
  entries: AuditEntry[];
  next: string | null;
  unreadable: number;
}

export interface Lease {
  name: string;
  owner: string;
  fence: number;
  expires_at: string;
  expires_in_ms: number;
  waited_ms: number;
}

/** application/problem+json. */
export interface Problem {
  title: string;
  status: number;
  code: string;
  detail: string;
  retry_after_ms?: number;
  holders?: Holder[];
}

/** GET /health. Without a token only the first is there. */
export interface Health {
  status: "ok" | "unavailable" | "draining";
  store?: { url: string; status: "ok" | "unavailable"; latency_ms?: number; reason?: string };
  version?: string;
}
