// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { AuditParams } from "../src/api/client";
import type { AuditEntry } from "../src/api/types";
import { MOST_EXPORTED, auditCsv, collect } from "../src/state/audit";

const entry = (seq: number, more: Partial<AuditEntry> = {}): AuditEntry => ({ seq, at: "2026-11-15T21:30:00.250Z", what: "forced", ...more });

/** A server with so many entries, in pages of 1000. */
function server(size: number) {
  const asked: AuditParams[] = [];
  const ask = (params: AuditParams) => {
    asked.push(params);
    const from = Number(params.cursor ?? "0");
    const to = Math.min(size, from + (params.limit ?? 0));
    const entries = Array.from({ length: to - from }, (_, i) => entry(from + i));
    return Promise.resolve({ entries, next: to < size ? String(to) : null, unreadable: 0 });
  };
  return { ask, asked };
}

describe("an export", () => {
  test("has everything that the filter matches, page after page", async () => {
    const { ask, asked } = server(2500);
    const { entries, cut } = await collect(ask, { what: "forced" });
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 2500 }, (_, i) => i));
    expect(cut).toBe(false);
    expect(asked.map(({ cursor, what }) => [cursor, what])).toEqual([
      [undefined, "forced"],
      ["1000", "forced"],
      ["2000", "forced"],
    ]);
  });

  test("ends at its limit, and says that there is more", async () => {
    const { ask } = server(MOST_EXPORTED + 1);
    const { entries, cut } = await collect(ask, {});
    expect([entries.length, cut]).toEqual([MOST_EXPORTED, true]);
    expect((await collect(server(MOST_EXPORTED).ask, {})).cut).toBe(false);
  });

  test("as CSV has a column for each field, and no formula", () => {
    expect(auditCsv([entry(7, { name: "=cmd", fence: 5, reason: 'a "b", c' })])).toBe(
      'seq,at,what,name,fence,principal,client,reason,request_id\r\n7,2026-11-15T21:30:00.250Z,forced,\'=cmd,5,,,"a ""b"", c",\r\n',
    );
  });
});
