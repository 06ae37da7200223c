// SPDX-License-Identifier: Apache-2.0

/**
 * How old an event is, by a server whose clock may differ from ours.
 *
 * The smallest difference ever seen between our clock and an event's time is the difference of the
 * clocks plus the fastest delivery; whatever is above that is age.
 */
export class Skew {
  #smallest = Number.POSITIVE_INFINITY;

  /** Milliseconds since the event happened, as far as we can tell; 0 if its time cannot be read. */
  age(at: string, wallNow: number): number {
    const difference = wallNow - Date.parse(at);
    if (Number.isNaN(difference)) return 0;
    this.#smallest = Math.min(this.#smallest, difference);
    return difference - this.#smallest;
  }
}

/** Counts how often something happened per second, over the last few seconds. */
export class Rate {
  readonly #counts: number[];
  #second = 0;

  constructor(seconds = 5) {
    this.#counts = new Array<number>(seconds).fill(0);
  }

  add(count: number, now: number): void {
    this.#turn(now);
    const slot = this.#second % this.#counts.length;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + count;
  }

  /** Per second, over the full seconds that are kept. */
  value(now: number): number {
    this.#turn(now);
    const slot = this.#second % this.#counts.length;
    const sum = this.#counts.reduce((total, count, i) => (i === slot ? total : total + count), 0);
    return sum / (this.#counts.length - 1);
  }

  #turn(now: number): void {
    const second = Math.floor(now / 1000);
    const steps = Math.min(second - this.#second, this.#counts.length);
    for (let i = 0; i < steps; ++i) this.#counts[(second - i) % this.#counts.length] = 0;
    this.#second = Math.max(this.#second, second);
  }
}
