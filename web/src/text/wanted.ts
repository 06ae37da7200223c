// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from "./duration";
import { bytesOf } from "./names";
import type { Wanted } from "./snippets";

export const LONGEST_NAME = 512;
const DAY_MS = 24 * 3_600_000;
const SHORTEST_TTL_MS = 20;

export type Faults = Partial<Record<keyof Wanted, string>>;

const whole = (value: number, least: number) => Number.isInteger(value) && value >= least;

/** What the server would refuse, field by field; nothing where all is well. */
export function faultsOf(wanted: Wanted): Faults {
  const faults: Faults = {};
  const bytes = bytesOf(wanted.name);
  if (bytes === 0) faults.name = "A lock needs a name.";
  if (bytes > LONGEST_NAME) faults.name = `At most ${LONGEST_NAME} bytes; this is ${bytes}.`;
  const ttl = parseDuration(wanted.ttl);
  if (ttl === null) faults.ttl = "A whole number and ms, s, m or h: 30s";
  else if (ttl < SHORTEST_TTL_MS || ttl > DAY_MS) faults.ttl = "From 20ms to 24h.";
  const wait = parseDuration(wanted.wait);
  if (wait === null) faults.wait = "A whole number and ms, s, m or h: 0s";
  else if (wait > DAY_MS) faults.wait = "At most 24h.";
  if (wanted.kind === "semaphore") {
    if (!whole(wanted.capacity, 1)) faults.capacity = "At least 1.";
    if (!whole(wanted.permits, 1) || wanted.permits > wanted.capacity) faults.permits = "From 1 to the capacity.";
  }
  return faults;
}
