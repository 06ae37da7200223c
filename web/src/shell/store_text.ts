// SPDX-License-Identifier: Apache-2.0
import type { ApiProblem } from "../api/problem";
import type { Health } from "../api/types";

export interface StoreText {
  url: string;
  word: string;
  tone: "good" | "warn" | "bad";
}

function latency(ms: number | undefined): string {
  if (ms === undefined) return "";
  return ms < 10 ? ` ${ms.toFixed(1)}ms` : ` ${Math.round(ms)}ms`;
}

/** What the header says of the store. */
export function storeText(health: Health | null, problem: ApiProblem | null): StoreText {
  const url = health?.store?.url ?? "store";
  if (problem !== null) return { url, word: "server unreachable", tone: "bad" };
  if (health === null) return { url, word: "asking", tone: "warn" };
  if (health.status === "draining") return { url, word: "server is stopping", tone: "warn" };
  if (health.status === "unavailable" || health.store?.status === "unavailable") return { url, word: "store down", tone: "bad" };
  return { url, word: `ok${latency(health.store?.latency_ms)}`, tone: "good" };
}
