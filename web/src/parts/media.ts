// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";

/** Below this the page is laid out for a phone; the same number stands in the style sheets. */
export const PHONE = "(max-width: 720px)";

/** Whether a media query holds, now and whenever that changes. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const changed = () => { setMatches(list.matches); };
    changed();
    list.addEventListener("change", changed);
    return () => { list.removeEventListener("change", changed); };
  }, [query]);
  return matches;
}
