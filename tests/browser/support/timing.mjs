// SPDX-License-Identifier: Apache-2.0
//
// Real time, as tests/support/timing.hpp has it: what is meant for an idle machine stretches with
// the load.
import { availableParallelism, loadavg } from "node:os";
import { readFileSync } from "node:fs";

const MOST = 1000;
let largest = 1;

function factorByLoad() {
  const running = Number.parseInt(readFileSync("/proc/loadavg", "utf8").split(" ")[3], 10);
  const perProcessor = Math.max(loadavg()[0], running || 0) / availableParallelism();
  return perProcessor <= 1 ? 1 : 2 * perProcessor;
}

/** HOLDFAST_TIME_FACTOR if it is set, else by the load; never less than it was before. */
export function timeFactor() {
  const set = Number.parseFloat(process.env.HOLDFAST_TIME_FACTOR ?? "");
  if (Number.isFinite(set)) return Math.min(MOST, Math.max(1, set));
  largest = Math.min(MOST, Math.max(largest, factorByLoad()));
  return largest;
}

export const atMost = (ms) => Math.ceil(ms * timeFactor());
