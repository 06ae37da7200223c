// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { SseParser, type StreamEvent } from "../src/api/sse";

function parsed(pieces: string[]): { events: StreamEvent[]; parser: SseParser } {
  const events: StreamEvent[] = [];
  const parser = new SseParser((event) => events.push(event));
  for (const piece of pieces) parser.push(piece);
  return { events, parser };
}

/** The same bytes, cut into two at every place, and one by one. */
function everyCut(text: string): string[][] {
  const bytes = new TextEncoder().encode(text);
  const decode = (parts: Uint8Array[]) => {
    const decoder = new TextDecoder();
    return parts.map((part) => decoder.decode(part, { stream: true }));
  };
  const cuts = Array.from(bytes, (_, at) => decode([bytes.slice(0, at), bytes.slice(at)]));
  return [...cuts, decode(Array.from(bytes, (byte) => Uint8Array.of(byte)))];
}

describe("the parser of server-sent events", () => {
  test("reads id, type and data", () => {
    expect(parsed(['id: 7\nevent: acquired\ndata: {"a":1}\n\n']).events).toEqual([{ id: "7", type: "acquired", data: '{"a":1}' }]);
  });

  test.each([
    ["LF", "\n"],
    ["CR LF", "\r\n"],
    ["CR", "\r"],
  ])("gives the same wherever a stream with %s is cut", (_, end) => {
    const text = ["\ufeff: hello", "retry: 250", "id: 1", "event: queued", "data: größe 𝄞", "data: two", "", ": still here", "", "id: 2", "data:x", "", ""].join(end) + end;
    const wanted = [
      { id: "1", type: "queued", data: "größe 𝄞\ntwo" },
      { id: "2", type: "message", data: "x" },
    ];
    for (const pieces of everyCut(text)) {
      const { events, parser } = parsed(pieces);
      expect(events).toEqual(wanted);
      expect(parser.retry).toBe(250);
      expect(parser.lastId).toBe("2");
    }
  });

  test("takes comments for nothing", () => {
    expect(parsed([": one\n:two\n\n"]).events).toEqual([]);
  });

  test("keeps the id for events that have none", () => {
    expect(parsed(["id: 5\ndata: a\n\ndata: b\n\n"]).events.map((event) => event.id)).toEqual(["5", "5"]);
  });

  test("forgets the type after each event", () => {
    expect(parsed(["event: lost\ndata: a\n\ndata: b\n\n"]).events.map((event) => event.type)).toEqual(["lost", "message"]);
  });

  test("hands out nothing for an event without data, but remembers its id", () => {
    const { events, parser } = parsed(["id: 9\nevent: x\n\n"]);
    expect(events).toEqual([]);
    expect(parser.lastId).toBe("9");
  });

  test("removes one space before a value and no more", () => {
    expect(parsed(["data:  a\ndata:b\ndata\n\n"]).events[0]?.data).toBe(" a\nb\n");
  });

  test("ignores a retry that is no number, and an id with a zero in it", () => {
    const { parser } = parsed(["id: 1\nretry: soon\n\nid: a\0b\n\n"]);
    expect(parser.retry).toBeNull();
    expect(parser.lastId).toBe("1");
  });

  test("does not hand out an event that was never ended", () => {
    expect(parsed(["data: half"]).events).toEqual([]);
  });

  test("refuses an event without an end", () => {
    const parser = new SseParser(() => undefined);
    expect(() => {
      for (let i = 0; i < 3; ++i) parser.push("x".repeat(500_000));
    }).toThrow();
    const lines = new SseParser(() => undefined);
    expect(() => {
      for (let i = 0; i < 3; ++i) lines.push(`data: ${"x".repeat(500_000)}\n`);
    }).toThrow();
  });
});
