// SPDX-License-Identifier: Apache-2.0

export type Tone = "good" | "bad" | "plain";

export interface ToastText {
  id: number;
  text: string;
  tone: Tone;
}

const SHOWN_MS = 6000;
const MOST = 4;

/** Short messages about what the user just did. */
export class Toasts {
  list: readonly ToastText[] = [];
  readonly #listeners = new Set<() => void>();
  #next = 1;

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  }

  say(text: string, tone: Tone = "plain"): void {
    const toast = { id: this.#next++, text, tone };
    this.#set([...this.list, toast].slice(-MOST));
    setTimeout(() => { this.drop(toast.id); }, SHOWN_MS);
  }

  drop(id: number): void {
    this.#set(this.list.filter((toast) => toast.id !== id));
  }

  #set(list: readonly ToastText[]): void {
    this.list = list;
    for (const listener of this.#listeners) listener();
  }
}

export const toasts = new Toasts();

/** Says something at the page's edge for a few seconds. */
export function toast(text: string, tone: Tone = "plain"): void {
  toasts.say(text, tone);
}
