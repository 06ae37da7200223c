// SPDX-License-Identifier: Apache-2.0
export function DeadlocksPage() {
  return <div class="page" />;
}
