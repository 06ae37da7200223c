// SPDX-License-Identifier: Apache-2.0
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** The width of an element's content, in whole pixels, now and whenever it changes. */
export function useWidth(element: RefObject<HTMLElement>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measured = element.current;
    if (measured === null) return;
    const measure = () => { setWidth(Math.floor(measured.clientWidth)); };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => { observer.disconnect(); };
  }, [element]);
  return width;
}
