// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { cppString, jsonText, shellWord } from "../src/text/quote";
import { bodyOf, cpp, curl, shell, type Place, type Wanted } from "../src/text/snippets";
import { hasUnseen } from "../src/text/names";
import { faultsOf } from "../src/text/wanted";

const PLACE: Place = { url: "http://localhost:3009/", needsToken: false };
const wanted = (more: Partial<Wanted> = {}): Wanted => ({ name: "orders:42", kind: "mutex", mode: "write", capacity: 3, permits: 1, ttl: "30s", wait: "5s", note: "", ...more });

/** What a POSIX shell with $'…' makes of a line: its words. */
function words(line: string): string[] {
  const bytes = new TextEncoder();
  const found: number[][] = [];
  let word: number[] | null = null;
  for (let i = 0; i < line.length; ) {
    const char = line[i] ?? "";
    if (char === " ") {
      if (word) found.push(word);
      word = null;
      ++i;
      continue;
    }
    word ??= [];
    if (line.startsWith("$'", i)) {
      i += 2;
      while (line[i] !== "'") {
        const octal = /^\\([0-7]{3})/.exec(line.slice(i, i + 4));
        if (octal) {
          word.push(parseInt(octal[1] ?? "", 8));
          i += 4;
        } else {
          if (line[i] === "\\") ++i;
          const whole = String.fromCodePoint(line.codePointAt(i) ?? 0);
          word.push(...bytes.encode(whole));
          i += whole.length;
        }
      }
      ++i;
    } else if (char === "'") {
      const end = line.indexOf("'", i + 1);
      word.push(...bytes.encode(line.slice(i + 1, end)));
      i = end + 1;
    } else if (char === "\\") {
      word.push(...bytes.encode(line[i + 1] ?? ""));
      i += 2;
    } else {
      expect(char).toMatch(/[A-Za-z0-9_./:@%+,=-]/);
      word.push(...bytes.encode(char));
      ++i;
    }
  }
  if (word) found.push(word);
  return found.map((one) => new TextDecoder().decode(Uint8Array.from(one)));
}

/** What a C++ compiler makes of a string literal. */
function compiled(literal: string): string {
  const body = /^"(.*)"(?:sv)?$/s.exec(literal)?.[1] ?? "";
  const out: number[] = [];
  for (let i = 0; i < body.length; ) {
    const octal = /^\\([0-7]{3})/.exec(body.slice(i, i + 4));
    if (octal) {
      out.push(parseInt(octal[1] ?? "", 8));
      i += 4;
      continue;
    }
    expect(body[i]).not.toBe('"');
    if (body[i] === "\\") {
      ++i;
      expect(body[i]).toMatch(/["\\]/);
    }
    const whole = String.fromCodePoint(body.codePointAt(i) ?? 0);
    out.push(...new TextEncoder().encode(whole));
    i += whole.length;
  }
  return new TextDecoder().decode(Uint8Array.from(out));
}

const HOSTILE = ["it's", "a b", "$(rm -rf /)", "`id`", '"quoted"', "back\\slash", "\\", "'", "two\nlines", "evil\u202egnp1", "tab\t2", "~", "*", "!x", "a;b|c&d", "шлюз", "=cmd", "\x1b[0m7", "#no", "a\\'\n'b"];

describe("quoting", () => {
  test.each(HOSTILE.map((name) => [name]))("a shell reads %j as one word, and the same", (name) => {
    expect(words(`x ${shellWord(name)} y`)).toEqual(["x", name, "y"]);
  });

  test.each([...HOSTILE, "zero\0in the middle"].map((name) => [name]))("a compiler reads %j as the same", (name) => {
    expect(compiled(cppString(name))).toBe(name);
  });

  test("nothing invisible is left in what one copies", () => {
    for (const name of HOSTILE) {
      expect(hasUnseen(shellWord(name))).toBe(false);
      expect(hasUnseen(cppString(name))).toBe(false);
      expect(hasUnseen(jsonText({ name }))).toBe(false);
      expect(JSON.parse(jsonText({ name }))).toEqual({ name });
    }
  });

  test("what needs no quotes gets none", () => {
    expect([shellWord("orders:42"), shellWord(""), shellWord("it's")]).toEqual(["orders:42", "''", "'it'\\''s'"]);
  });
});

describe("curl", () => {
  test("is the whole request", () => {
    expect(curl(wanted(), PLACE)).toBe(`curl http://localhost:3009/v1/locks/orders%3A42/acquire \\\n  -H 'Content-Type: application/json' \\\n  -d '{"ttl":"30s","wait":"5s"}'`);
  });

  test("takes the token from the environment and never shows it", () => {
    expect(curl(wanted(), { ...PLACE, needsToken: true })).toContain('-H "Authorization: Bearer $HOLDFAST_TOKEN"');
  });

  test("keeps names apart from the path", () => {
    expect(curl(wanted({ name: "a/b?c#d" }), PLACE)).toContain("/v1/locks/a%2Fb%3Fc%23d/acquire");
    expect(curl(wanted({ name: ".." }), PLACE)).toContain("--path-as-is");
  });

  test("sends what each kind needs and nothing else", () => {
    expect(bodyOf(wanted({ kind: "semaphore", capacity: 5, permits: 2, note: "n" }))).toEqual({ ttl: "30s", wait: "5s", kind: "semaphore", capacity: 5, permits: 2, metadata: { note: "n" } });
    expect(bodyOf(wanted({ kind: "read_write", mode: "read" }))).toEqual({ ttl: "30s", wait: "5s", kind: "read_write", mode: "read" });
    expect(bodyOf(wanted({ kind: "election" }))).toEqual({ ttl: "30s", wait: "5s", kind: "election" });
  });
});

describe("C++", () => {
  const last = (more: Partial<Wanted>) => cpp(wanted(more), PLACE).split("\n")[1];

  test("is what the README shows", () => {
    expect(cpp(wanted(), PLACE)).toBe('auto client = holdfast::open("http://localhost:3009");\nauto lease = client->mutex("orders:42").acquire({.ttl = 30s, .wait = 5s});');
  });

  test("has the call of each kind", () => {
    expect(last({ kind: "reentrant", wait: "0s" })).toBe('auto lease = client->reentrant("orders:42").acquire({.ttl = 30s});');
    expect(last({ kind: "read_write", mode: "read" })).toBe('auto lease = client->read_write("orders:42").acquire_shared({.ttl = 30s, .wait = 5s});');
    expect(last({ kind: "read_write" })).toContain('read_write("orders:42").acquire({');
    expect(last({ kind: "semaphore", capacity: 5, permits: 2 })).toBe('auto lease = client->semaphore("orders:42", 5).acquire({.ttl = 30s, .wait = 5s, .permits = 2});');
    expect(last({ kind: "election" })).toContain('election("orders:42").campaign(');
  });

  test("calls minutes min", () => {
    expect(last({ ttl: "5m", wait: "250ms" })).toContain("{.ttl = 5min, .wait = 250ms}");
  });

  test("names the variable that has the token", () => {
    expect(cpp(wanted(), { ...PLACE, needsToken: true })).toContain('open("http://localhost:3009?token_env=HOLDFAST_TOKEN")');
  });
});

describe("the shell", () => {
  test("has the options of each kind", () => {
    expect(shell(wanted(), PLACE)).toBe("holdfast run --store http://localhost:3009 --wait 5s orders:42 -- command");
    expect(shell(wanted({ wait: "0s", ttl: "1m" }), PLACE)).toBe("holdfast run --store http://localhost:3009 --ttl 1m --no-wait orders:42 -- command");
    expect(shell(wanted({ kind: "semaphore", permits: 2, capacity: 5 }), PLACE)).toContain(" --permits 2/5 ");
    expect(shell(wanted({ kind: "read_write", mode: "read" }), PLACE)).toContain(" --shared ");
    expect(shell(wanted({ kind: "read_write" }), PLACE)).not.toContain("--shared");
    expect(shell(wanted({ kind: "reentrant" }), PLACE)).toContain(" --reentrant ");
    expect(shell(wanted({ kind: "election" }), PLACE)).toBe("holdfast elect --store http://localhost:3009 orders:42 -- command");
  });

  test("gives a name that looks like an option as one", () => {
    expect(shell(wanted({ name: "-rf" }), PLACE)).toContain("--name=-rf -- command");
    expect(words(shell(wanted({ name: "-r f" }), PLACE))).toContain("--name=-r f");
  });

  test("keeps a note that looks like an option with its option", () => {
    expect(words(shell(wanted({ note: "--store x" }), PLACE))).toContain("--note=--store x");
  });

  test("says so where there is no such command", () => {
    expect(shell(wanted({ name: "a\0b" }), PLACE)).toMatch(/^#/);
    expect(shell(wanted({ name: "-x", kind: "election" }), PLACE)).toMatch(/^#/);
  });
});

describe("what one may ask for", () => {
  test("is what the server takes", () => {
    expect(faultsOf(wanted())).toEqual({});
    expect(Object.keys(faultsOf(wanted({ name: "", ttl: "1ms", wait: "25h" })))).toEqual(["name", "ttl", "wait"]);
    expect(Object.keys(faultsOf(wanted({ name: "ä".repeat(257), ttl: "x", wait: "" })))).toEqual(["name", "ttl", "wait"]);
    expect(Object.keys(faultsOf(wanted({ kind: "semaphore", capacity: NaN, permits: 0 })))).toEqual(["capacity", "permits"]);
    expect(Object.keys(faultsOf(wanted({ kind: "semaphore", capacity: 2, permits: 3 })))).toEqual(["permits"]);
    expect(faultsOf(wanted({ capacity: NaN }))).toEqual({});
  });
});
