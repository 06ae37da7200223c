// SPDX-License-Identifier: Apache-2.0

/** Hands a text to the browser as a file. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun by then; the text would otherwise stay in memory as long as the page.
  setTimeout(() => { URL.revokeObjectURL(url); }, 10_000);
}
