// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { hrefOf, routeOf, type Route } from "../src/router";

const HOSTILE = ["a/b", "..", ".", "a?b#c&d=%2F", "%", "%2F", "#/locks/x", "<img src=x onerror=alert(1)>", "two\nlines\t", "evil\u202egnp", "\0", " ", "+", "шлюз", "𝄞", "x".repeat(512), "'\"`$(rm)\\"];

describe("routes", () => {
  test.each(HOSTILE.map((name) => [name]))("the name %j comes back as it was", (name) => {
    const href = hrefOf({ page: "lock", name });
    expect(routeOf(href)).toEqual({ page: "lock", name });
    // A browser reports the hash as it stands in the address.
    expect(routeOf(new URL(href, "http://h/pre/fix/").hash)).toEqual({ page: "lock", name });
  });

  test("a name can leave no trace outside of the hash", () => {
    for (const name of HOSTILE) {
      const url = new URL(hrefOf({ page: "lock", name }), "http://h/pre/");
      expect(url.pathname + url.search).toBe("/pre/");
    }
  });

  test("every page has an address that leads back to it", () => {
    const pages = ["overview", "locks", "contention", "deadlocks", "rate_limits", "audit", "try_it"] as const;
    for (const page of pages) {
      const route: Route = { page };
      expect(routeOf(hrefOf(route))).toEqual(route);
    }
    expect(new Set(pages.map((page) => hrefOf({ page }))).size).toBe(pages.length);
  });

  test("what nobody can read is the overview, or the locks if it begins so", () => {
    expect(routeOf("")).toEqual({ page: "overview" });
    expect(routeOf("#/nowhere")).toEqual({ page: "overview" });
    expect(routeOf("#/locks/")).toEqual({ page: "locks" });
    expect(routeOf("#/locks/%E0%A4%A")).toEqual({ page: "locks" });
  });

  test("half of a surrogate pair does not break the page", () => {
    expect(routeOf(hrefOf({ page: "lock", name: "a\ud800b\udc00" }))).toEqual({ page: "lock", name: "a\ufffdb\ufffd" });
  });
});
