// SPDX-License-Identifier: Apache-2.0
import type { ApiProblem } from "../api/problem";
import type { Health } from "../api/types";
import { visible } from "../text/names";
import { storeText } from "./store_text";

export function StoreState({ health, problem }: { health: Health | null; problem: ApiProblem | null }) {
  const text = storeText(health, problem);
  return (
    <div class="store-state" title={health?.store?.reason ?? problem?.detail}>
      <bdi class="mono url" title={visible(text.url)}>
        {visible(text.url)}
      </bdi>
      <span class={text.tone} role="status">
        {text.word}
      </span>
    </div>
  );
}
