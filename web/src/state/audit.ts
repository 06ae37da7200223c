// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Api, AuditParams } from "../api/client";
import { problemOf, type ApiProblem } from "../api/problem";
import type { AuditEntry, AuditPage } from "../api/types";
import { csv } from "../text/csv";

export type AuditFilter = Omit<AuditParams, "cursor" | "limit">;

export const MOST_EXPORTED = 10_000;
const PAGE = 100;
const EXPORT_PAGE = 1000;

export const WHATS: readonly string[] = [
  "acquired",
  "released",
  "forced",
  "lost",
  "denied",
  "session_started",
  "session_ended",
  "server_started",
  "server_stopped",
  "tokens_reloaded",
  "rate_limit_reset",
  "run_taken_over",
  "run_forgotten",
  "entries_dropped",
];

export interface AuditList {
  entries: readonly AuditEntry[];
  /** Whether there are older ones. */
  more: boolean;
  unreadable: number;
  loading: boolean;
  problem: ApiProblem | null;
  loadMore: () => void;
}

interface State {
  entries: readonly AuditEntry[];
  next: string | null;
  unreadable: number;
  loading: boolean;
  problem: ApiProblem | null;
}

const NOTHING: State = { entries: [], next: null, unreadable: 0, loading: true, problem: null };

/** What the filter matches, the newest first, a page at a time. */
export function useAudit(api: Api, filter: AuditFilter): AuditList {
  const [state, setState] = useState<State>(NOTHING);
  const abort = useRef(new AbortController());
  const load = useCallback(
    async (cursor: string | null) => {
      const { signal } = abort.current;
      setState((before) => ({ ...before, loading: true, problem: null }));
      try {
        const page = await api.audit({ ...filter, ...(cursor === null ? {} : { cursor }), limit: PAGE }, signal);
        if (signal.aborted) return;
        setState((before) => ({
          entries: [...before.entries, ...page.entries],
          next: page.next,
          unreadable: before.unreadable + page.unreadable,
          loading: false,
          problem: null,
        }));
      } catch (thrown) {
        if (!signal.aborted) setState((before) => ({ ...before, loading: false, problem: problemOf(thrown) }));
      }
    },
    [api, filter],
  );
  useEffect(() => {
    abort.current = new AbortController();
    setState(NOTHING);
    void load(null);
    return () => { abort.current.abort(); };
  }, [load]);
  const loadMore = useCallback(() => { void load(state.next); }, [load, state.next]);
  return { ...state, more: state.next !== null, loadMore };
}

export interface Exported {
  entries: AuditEntry[];
  /** There were more than are exported. */
  cut: boolean;
}

/** Everything the filter matches, up to MOST_EXPORTED entries. */
export async function collect(ask: (params: AuditParams) => Promise<AuditPage>, filter: AuditFilter): Promise<Exported> {
  const entries: AuditEntry[] = [];
  let cursor: string | null = null;
  do {
    const page: AuditPage = await ask({ ...filter, ...(cursor === null ? {} : { cursor }), limit: EXPORT_PAGE });
    entries.push(...page.entries);
    cursor = page.next;
  } while (cursor !== null && entries.length < MOST_EXPORTED);
  return { entries: entries.slice(0, MOST_EXPORTED), cut: cursor !== null || entries.length > MOST_EXPORTED };
}

const COLUMNS = ["seq", "at", "what", "name", "fence", "principal", "client", "reason", "request_id"] as const;

export function auditCsv(entries: readonly AuditEntry[]): string {
  return csv(COLUMNS, entries.map((entry) => COLUMNS.map((column) => entry[column])));
}
