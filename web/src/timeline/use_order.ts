// SPDX-License-Identifier: Apache-2.0
import { useMemo, useRef } from "preact/hooks";
import { steadyOrder } from "./geometry";
import type { Grouping, Picture } from "./span";

/** Lanes that change places all the time cannot be read; so they are sorted anew only now and then. */
const SORT_EVERY_MS = 8000;

export function useOrder(picture: Picture, by: Grouping): readonly string[] {
  const kept = useRef<{ order: readonly string[]; sortedAt: number; by: Grouping }>({ order: [], sortedAt: 0, by });
  return useMemo(() => {
    const wanted = picture.lanes.map((lane) => lane.key);
    const { sortedAt, by: before, order } = kept.current;
    const isDue = before !== by || performance.now() - sortedAt >= SORT_EVERY_MS || order.length === 0;
    kept.current = isDue ? { order: wanted, sortedAt: performance.now(), by } : { order: steadyOrder(order, wanted), sortedAt, by };
    return kept.current.order;
  }, [picture, by]);
}
