// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { cell, csv } from "../src/text/csv";
import { fine, parseDuration, short, ticking } from "../src/text/duration";
import { bytesOf, hasUnseen, pieces, visible } from "../src/text/names";
import { count, counted, rate } from "../src/text/number";
import { fromLocalInput, localTime, utcTime } from "../src/text/time";

describe("durations", () => {
  test.each([
    [-5, "0ms"],
    [0, "0ms"],
    [999.9, "999ms"],
    [1000, "1.0s"],
    [9999, "9.9s"],
    [10_000, "10s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [185_000, "3m 5s"],
    [3_599_999, "59m 59s"],
    [3_600_000, "1h"],
    [7_800_000, "2h 10m"],
    [86_400_000, "1d"],
    [4 * 86_400_000 + 3 * 3_600_000 + 1, "4d 3h"],
  ])("%d ms is %s", (ms, text) => {
    expect(short(ms)).toBe(text);
  });

  test("what ticks shows whole seconds", () => {
    expect([ticking(-1), ticking(400), ticking(9999), ticking(61_000)]).toEqual(["0s", "0s", "9s", "1m 1s"]);
  });

  test("of a store have a digit behind the point while they are small", () => {
    expect([fine(0), fine(0.42), fine(9.96), fine(10.6)]).toEqual(["0ms", "0.4ms", "10.0ms", "10ms"]);
  });

  test("are read as the server reads them: one integer and one unit", () => {
    expect([parseDuration("30s"), parseDuration(" 250ms "), parseDuration("5m"), parseDuration("24h"), parseDuration("0s")]).toEqual([30_000, 250, 300_000, 86_400_000, 0]);
    for (const bad of ["", "30", "s", "1.5s", "-1s", "1d", "1m 5s", "30 s", "9999999999s"]) expect(parseDuration(bad)).toBeNull();
  });
});

describe("numbers", () => {
  test("are grouped, and a dash where nobody knows", () => {
    expect([count(1234567), count(null), count(undefined), rate(0), rate(2.345), rate(1234.5), rate(null)]).toEqual(["1,234,567", "–", "–", "0", "2.3", "1,235", "–"]);
    expect([counted(1, "lock"), counted(2, "lock"), counted(2, "entry", "entries")]).toEqual(["1 lock", "2 locks", "2 entries"]);
  });
});

describe("times", () => {
  test("are in the viewer's zone, with the day where it is another one", () => {
    const at = new Date(2026, 10, 5, 4, 3, 2);
    expect(localTime(at, new Date(2026, 10, 5, 23, 0, 0))).toBe("04:03:02");
    expect(localTime(at, new Date(2026, 10, 6))).toBe("2026-11-05 04:03:02");
  });

  test("have UTC for those who hover", () => {
    expect(utcTime("2026-11-15T21:30:00.250Z")).toBe("2026-11-15 21:30:00.250 UTC");
    expect(utcTime("soon")).toBeNull();
  });

  test("of a field are sent as RFC 3339", () => {
    expect(fromLocalInput("2026-11-15T10:00")).toBe(new Date(2026, 10, 15, 10).toISOString());
    expect(fromLocalInput("")).toBeUndefined();
    expect(fromLocalInput("x")).toBeUndefined();
  });
});

describe("names of strangers", () => {
  test.each([
    ["evil\u202egnp.exe", "evil\\u202egnp.exe"],
    ["two\nlines\r\t", "two\\nlines\\r\\t"],
    ["\0\x1b[31m\x7f\x85", "\\0\\x1b[31m\\x7f\\x85"],
    ["zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"],
    ["no\u00a0break\u3000wide", "no\\xa0break\\u3000wide"],
    ["tag\u{e0041}", "tag\\u{e0041}"],
    ["half\ud800", "half\\ud800"],
    ["line\u2028sep", "line\\u2028sep"],
    ["isolate\u2066\u2069", "isolate\\u2066\\u2069"],
  ])("%j is shown as %j", (name, shown) => {
    expect(visible(name)).toBe(shown);
    expect(hasUnseen(name)).toBe(true);
    expect(hasUnseen(visible(name))).toBe(false);
  });

  test("that can be seen stay as they are", () => {
    for (const name of ["orders:42", "шлюз 𝄞 größe", "<img src=x onerror=alert(1)>", "a b", "\\u202e"]) {
      expect(visible(name)).toBe(name);
      expect(pieces(name)).toEqual([{ text: name, escaped: false }]);
    }
  });

  test("an escape can be told from text that looks like one", () => {
    expect(pieces("a\n\\nb")).toEqual([
      { text: "a", escaped: false },
      { text: "\\n", escaped: true },
      { text: "\\nb", escaped: false },
    ]);
    expect(pieces("")).toEqual([{ text: "", escaped: false }]);
  });

  test("are measured in bytes", () => {
    expect([bytesOf(""), bytesOf("aä𝄞")]).toEqual([0, 7]);
  });
});

describe("CSV", () => {
  test("quotes what RFC 4180 wants quoted, and ends lines with CR LF", () => {
    expect(csv(["a", "b"], [['say "hi"', "x,y"], ["two\nlines", null], [1, undefined]])).toBe('a,b\r\n"say ""hi""","x,y"\r\n"two\nlines",\r\n1,\r\n');
  });

  test.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@sum", "'@sum"],
    ["\tx", "'\tx"],
    ["\rx", "\"'\rx\""],
    ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
  ])("%j cannot be a formula", (text, safe) => {
    expect(cell(text)).toBe(safe);
  });

  test("leaves numbers and harmless text alone", () => {
    expect([cell(-5), cell("a=b"), cell("'x"), cell("")]).toEqual(["-5", "a=b", "'x", ""]);
  });
});
