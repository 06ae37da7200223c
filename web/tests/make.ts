// SPDX-License-Identifier: Apache-2.0
import type { EventType, Holder, Lock, LockEvent, Waiter } from "../src/api/types";

const SILENT = { host: null, pid: null, program: null, source: null, note: null };

export function holder(fence: number, more: Partial<Holder> = {}): Holder {
  return { ...SILENT, fence, permits: "all", mode: "exclusive", party: `p${fence}`, claimed: false, expires_in_ms: 30_000, acquired_at: "2026-11-15T21:30:00.000Z", held_ms: 100, ...more };
}

export function waiter(party: string | null, more: Partial<Waiter> = {}): Waiter {
  return { ...SILENT, permits: "all", mode: "exclusive", party, waiting_ms: 50, ...more };
}

export function lock(name: string, holders: Holder[] = [holder(1)], waiters: Waiter[] = [], more: Partial<Lock> = {}): Lock {
  return { name, kind: "mutex", capacity: null, order: "fifo", holders, waiters, ...more };
}

let lastId = 0;

export function event(type: EventType, name: string, more: Partial<LockEvent> = {}): LockEvent {
  return { id: ++lastId, type, name, at: "2026-11-15T21:30:00.000Z", source: "server", kind: "mutex", mode: "exclusive", ...more };
}
