// SPDX-License-Identifier: Apache-2.0
export function LockPage({ name }: { name: string }) {
  return <div class="page">{name}</div>;
}
