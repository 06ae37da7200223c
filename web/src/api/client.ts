// SPDX-License-Identifier: Apache-2.0
import { ApiProblem, problemOf, problemOfBody } from "./problem";
import type {
  AuditPage,
  ContendedName,
  Deadlock,
  Health,
  Kind,
  Lease,
  Lock,
  LockPage,
  Me,
  RateLimit,
  Span,
  Stats,
  StatsHistory,
  Timeline,
} from "./types";

export { ApiProblem } from "./problem";

/** What a call needs of the session. */
export interface Door {
  /** The document's address: everything is relative to it, so that a path prefix does not matter. */
  readonly base: string;
  token(): string | null;
  /** The server did not accept this token. */
  refused(token: string | null): void;
}

export type Method = "GET" | "POST" | "DELETE";

export interface AcquireBody {
  ttl?: string;
  wait?: string;
  kind?: Kind;
  mode?: "read" | "write";
  capacity?: number;
  permits?: number;
  metadata?: { note?: string; host?: string; program?: string; pid?: number; source?: string; value?: string };
}

export interface AuditParams {
  prefix?: string;
  what?: string;
  principal?: string;
  /** RFC 3339, as is until. */
  since?: string;
  until?: string;
  cursor?: string;
  limit?: number;
}

export type ResetBody = Pick<RateLimit, "rate" | "algorithm" | "layout">;

/** Percent-encodes a name for one segment of a path. */
export function segment(name: string): string {
  // A browser removes the segments "." and ".." from every URL, however they are written.
  if (name === "." || name === "..") {
    throw new ApiProblem(0, "bad_input", `A browser cannot ask for a lock named “${name}”. Use the command line instead.`);
  }
  return encodeURIComponent(name);
}

/** "?a=1&b=2" of those that are there, or nothing. */
export function query(params: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

export function headersFor(door: Door): Headers {
  const headers = new Headers();
  const token = door.token();
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  return headers;
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    if (response.ok) throw new ApiProblem(response.status, "unknown_answer", "The server's answer is not JSON.");
    return null;
  }
}

async function ask(door: Door, method: Method, path: string, body: object | null, signal?: AbortSignal): Promise<Response> {
  const headers = headersFor(door);
  if (body !== null) headers.set("Content-Type", "application/json");
  const init: RequestInit = { method, headers, cache: "no-store", credentials: "omit", redirect: "error" };
  if (body !== null) init.body = JSON.stringify(body);
  if (signal) init.signal = signal;
  return fetch(new URL(path, door.base), init);
}

/** Sends one request; answers with parsed JSON or throws an ApiProblem. */
export async function call(door: Door, method: Method, path: string, body: object | null = null, signal?: AbortSignal): Promise<unknown> {
  const token = door.token();
  try {
    const response = await ask(door, method, path, body, signal);
    const parsed = await bodyOf(response);
    if (response.ok) return parsed;
    if (response.status === 401) door.refused(token);
    throw problemOfBody(response.status, parsed);
  } catch (thrown) {
    throw problemOf(thrown);
  }
}

export class Api {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  #get(path: string, signal?: AbortSignal): Promise<unknown> {
    return call(this.#door, "GET", path, null, signal);
  }

  me(signal?: AbortSignal): Promise<Me> {
    return this.#get("v1/me", signal) as Promise<Me>;
  }

  stats(signal?: AbortSignal): Promise<Stats> {
    return this.#get("v1/stats", signal) as Promise<Stats>;
  }

  history(span: Span, signal?: AbortSignal): Promise<StatsHistory> {
    return this.#get(`v1/stats/history${query({ span })}`, signal) as Promise<StatsHistory>;
  }

  locks(prefix: string, cursor: string | null, limit: number, signal?: AbortSignal): Promise<LockPage> {
    return this.#get(`v1/locks${query({ prefix, cursor: cursor ?? undefined, limit })}`, signal) as Promise<LockPage>;
  }

  async lock(name: string, signal?: AbortSignal): Promise<Lock> {
    return (await this.#get(`v1/locks/${segment(name)}`, signal)) as Lock;
  }

  async timeline(name: string, signal?: AbortSignal): Promise<Timeline> {
    return (await this.#get(`v1/locks/${segment(name)}/timeline`, signal)) as Timeline;
  }

  async force(name: string, reason: string, signal?: AbortSignal): Promise<{ name: string; ended: number; fence: number }> {
    const answer = await call(this.#door, "DELETE", `v1/locks/${segment(name)}`, { reason }, signal);
    return answer as { name: string; ended: number; fence: number };
  }

  contention(signal?: AbortSignal): Promise<{ names: ContendedName[] }> {
    return this.#get("v1/contention", signal) as Promise<{ names: ContendedName[] }>;
  }

  deadlocks(signal?: AbortSignal): Promise<{ deadlocks: Deadlock[] }> {
    return this.#get("v1/deadlocks", signal) as Promise<{ deadlocks: Deadlock[] }>;
  }

  rateLimits(signal?: AbortSignal): Promise<{ limits: RateLimit[] }> {
    return this.#get("v1/rate-limits", signal) as Promise<{ limits: RateLimit[] }>;
  }

  async resetRate(scope: string, body: ResetBody, signal?: AbortSignal): Promise<void> {
    await call(this.#door, "POST", `v1/rate-limits/${segment(scope)}/reset`, body, signal);
  }

  audit(params: AuditParams, signal?: AbortSignal): Promise<AuditPage> {
    return this.#get(`v1/audit${query({ ...params })}`, signal) as Promise<AuditPage>;
  }

  async acquire(name: string, body: AcquireBody, signal?: AbortSignal): Promise<Lease> {
    return (await call(this.#door, "POST", `v1/locks/${segment(name)}/acquire`, body, signal)) as Lease;
  }

  async renew(name: string, body: { owner: string; ttl?: string }, signal?: AbortSignal): Promise<Lease> {
    return (await call(this.#door, "POST", `v1/locks/${segment(name)}/renew`, body, signal)) as Lease;
  }

  async release(name: string, body: { owner: string }, signal?: AbortSignal): Promise<{ name: string; released: boolean }> {
    const answer = await call(this.#door, "POST", `v1/locks/${segment(name)}/release`, body, signal);
    return answer as { name: string; released: boolean };
  }

  /** Unlike the others an unhealthy server is an answer here, and not a problem. */
  async health(signal?: AbortSignal): Promise<Health> {
    try {
      const response = await ask(this.#door, "GET", "health", null, signal);
      const body = await bodyOf(response);
      if (typeof body === "object" && body !== null && typeof (body as Partial<Health>).store?.status === "string") return body as Health;
      if (response.ok) return body as Health;
      if (response.status === 503) return { status: "unavailable" };
      throw problemOfBody(response.status, body);
    } catch (thrown) {
      throw problemOf(thrown);
    }
  }
}
