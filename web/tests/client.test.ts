// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { Api, query, segment, type Door } from "../src/api/client";

interface Sent {
  url: string;
  init: RequestInit;
}

function fakeServer(status: number, body: unknown): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", (url: URL, init: RequestInit) => {
    sent.push({ url: url.href, init });
    return Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));
  });
  return sent;
}

function door(token: string | null = null): Door & { refusals: (string | null)[] } {
  const refusals: (string | null)[] = [];
  return { base: "http://h/pre/fix/", token: () => token, refused: (one) => refusals.push(one), refusals };
}

afterEach(() => { vi.unstubAllGlobals(); });

describe("a call", () => {
  test("is relative to the document, so that a path prefix does not matter", async () => {
    const sent = fakeServer(200, { locks: [], next: null });
    await new Api(door()).locks("a b&c", "cur", 1000);
    expect(sent[0]?.url).toBe("http://h/pre/fix/v1/locks?prefix=a+b%26c&cursor=cur&limit=1000");
  });

  test("carries the token in its header and nowhere else", async () => {
    const sent = fakeServer(200, {});
    await new Api(door("hf_secret")).me();
    expect(new Headers(sent[0]?.init.headers).get("Authorization")).toBe("Bearer hf_secret");
    expect(sent[0]?.url).not.toContain("hf_secret");
  });

  test("sends a body as JSON", async () => {
    const sent = fakeServer(200, { name: "a", ended: 1, fence: 5 });
    await new Api(door()).force("a/b", "stuck");
    expect(sent[0]).toMatchObject({ url: "http://h/pre/fix/v1/locks/a%2Fb", init: { method: "DELETE", body: '{"reason":"stuck"}' } });
    expect(new Headers(sent[0]?.init.headers).get("Content-Type")).toBe("application/json");
  });

  test("that is refused says what the server said", async () => {
    fakeServer(409, { status: 409, code: "busy", detail: "held", retry_after_ms: 5 });
    await expect(new Api(door()).acquire("a", {})).rejects.toMatchObject({ status: 409, code: "busy", detail: "held", more: { retry_after_ms: 5 } });
  });

  test("with a token that is not accepted tells the session which one", async () => {
    fakeServer(401, { code: "unauthenticated", detail: "no" });
    const at = door("hf_old");
    await expect(new Api(at).stats()).rejects.toMatchObject({ status: 401 });
    expect(at.refusals).toEqual(["hf_old"]);
  });

  test("that is answered by something else is still a problem one can show", async () => {
    fakeServer(502, "<html>bad gateway</html>");
    await expect(new Api(door()).stats()).rejects.toMatchObject({ status: 502, code: "unknown_answer" });
    fakeServer(200, "<html>hello</html>");
    await expect(new Api(door()).stats()).rejects.toMatchObject({ code: "unknown_answer" });
  });

  test("that nobody answers is unreachable, and one that was cancelled is cancelled", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("fetch failed")));
    await expect(new Api(door()).stats()).rejects.toMatchObject({ status: 0, code: "unreachable" });
    vi.stubGlobal("fetch", () => Promise.reject(new DOMException("aborted", "AbortError")));
    await expect(new Api(door()).stats()).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("health", () => {
  test("that is bad is an answer and no problem", async () => {
    fakeServer(503, { status: "unavailable", store: { url: "redis://x", status: "unavailable", reason: "refused" } });
    expect(await new Api(door()).health()).toMatchObject({ status: "unavailable", store: { reason: "refused" } });
    fakeServer(503, { title: "x", status: 503, code: "unavailable", detail: "y" });
    expect(await new Api(door()).health()).toEqual({ status: "unavailable" });
  });

  test("from something else than our server is a problem", async () => {
    fakeServer(404, { code: "not_found", detail: "x" });
    await expect(new Api(door()).health()).rejects.toMatchObject({ status: 404 });
  });
});

describe("addresses", () => {
  test("a name is one segment, whatever it contains", () => {
    for (const name of ["a/b", "a?b", "a#b", "%2F", "…", "a\nb", "\0"]) {
      const url = new URL(`v1/locks/${segment(name)}/acquire`, "http://h/");
      const parts = url.pathname.split("/");
      expect([parts.length, decodeURIComponent(parts[3] ?? ""), url.search, url.hash]).toEqual([5, name, "", ""]);
    }
  });

  test("a browser cannot ask for . and .., so this page does not try", async () => {
    expect(() => segment("..")).toThrow(/command line/);
    const sent = fakeServer(200, {});
    await expect(new Api(door()).lock(".")).rejects.toMatchObject({ code: "bad_input" });
    expect(sent).toEqual([]);
  });

  test("what is empty is not in a query", () => {
    expect([query({}), query({ a: "", b: undefined }), query({ a: "x y", b: 0 })]).toEqual(["", "", "?a=x+y&b=0"]);
  });
});
