// SPDX-License-Identifier: Apache-2.0

/** One event of a stream of server-sent events. */
export interface StreamEvent {
  id: string;
  type: string;
  data: string;
}

/** More than this without an empty line is not a stream of ours. */
const MAX_EVENT = 1_000_000;

/** Takes the text of a stream in pieces of any size, and hands out whole events. */
export class SseParser {
  /** Of the last event that had one; it is sent when the stream is opened again. */
  lastId = "";
  /** How long to wait before the stream is opened again, if the server said so. */
  retry: number | null = null;
  readonly #onEvent: (event: StreamEvent) => void;
  #rest = "";
  #type = "";
  #data: string[] = [];
  #size = 0;
  #id = "";
  #first = true;

  constructor(onEvent: (event: StreamEvent) => void) {
    this.#onEvent = onEvent;
  }

  push(piece: string): void {
    let text = this.#rest + piece;
    if (this.#first && text.length > 0) {
      this.#first = false;
      if (text.startsWith("\ufeff")) text = text.slice(1);
    }
    let from = 0;
    let lf = text.indexOf("\n");
    let cr = text.indexOf("\r");
    for (;;) {
      if (lf >= 0 && lf < from) lf = text.indexOf("\n", from);
      if (cr >= 0 && cr < from) cr = text.indexOf("\r", from);
      const end = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
      // A CR at the very end may be the first half of a CR LF.
      if (end < 0 || (end === cr && end + 1 === text.length)) break;
      this.#line(text.slice(from, end));
      from = end + (end === cr && lf === end + 1 ? 2 : 1);
    }
    this.#rest = text.slice(from);
    if (this.#rest.length + this.#size > MAX_EVENT) throw new Error("an event is too long");
  }

  #line(line: string): void {
    if (line === "") {
      this.#end();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    this.#field(field, value);
  }

  #field(field: string, value: string): void {
    if (field === "data") {
      this.#data.push(value);
      this.#size += value.length;
    } else if (field === "event") {
      this.#type = value;
    } else if (field === "id" && !value.includes("\0")) {
      this.#id = value;
    } else if (field === "retry" && /^\d+$/.test(value)) {
      this.retry = Number(value);
    }
  }

  #end(): void {
    this.lastId = this.#id;
    const data = this.#data;
    const type = this.#type === "" ? "message" : this.#type;
    this.#data = [];
    this.#size = 0;
    this.#type = "";
    if (data.length > 0) this.#onEvent({ id: this.lastId, type, data: data.join("\n") });
  }
}
