// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { ApiProblem } from "../src/api/problem";
import type { Me, Verb } from "../src/api/types";
import { Session, cleanToken, covers, may, roleOf, type Keep } from "../src/state/session";

const me = (verbs: Verb[], more: Partial<Me> = {}): Me => ({ name: "ops", verbs, prefixes: [], expires_at: null, needs_token: true, ...more });
const refused = () => Promise.reject(new ApiProblem(401, "unauthenticated", "no"));

class Box implements Keep {
  readonly kept = new Map<string, string>();
  getItem(key: string): string | null {
    return this.kept.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.kept.set(key, value);
  }
  removeItem(key: string): void {
    this.kept.delete(key);
  }
}

/** A session whose server knows one token. */
async function opened(keep: Box, known = "hf_good"): Promise<Session> {
  const session: Session = new Session("http://h/", keep);
  const ask = () => {
    const token = session.token();
    if (token === known) return Promise.resolve(me(["read"]));
    session.refused(token);
    return refused();
  };
  await session.open(ask);
  return session;
}

describe("a session", () => {
  test("is in at once where no token is asked for", async () => {
    const session = new Session("http://h/", null);
    await session.open(() => Promise.resolve(me(["admin"], { needs_token: false })));
    expect(session.state).toMatchObject({ phase: "in", me: { needs_token: false } });
    expect(session.token()).toBeNull();
  });

  test("asks for a token where one is needed, and says nothing bad about it", async () => {
    const session = await opened(new Box());
    expect(session.state).toEqual({ phase: "out", me: null, problem: null });
  });

  test("keeps a token in memory alone unless told otherwise", async () => {
    const box = new Box();
    const session = await opened(box);
    await session.login(" hf_good\n", false);
    expect(session.state.phase).toBe("in");
    expect(session.token()).toBe("hf_good");
    expect(box.kept.size).toBe(0);
  });

  test("keeps it in the tab if told so, finds it again, and forgets it on logging out", async () => {
    const box = new Box();
    await (await opened(box)).login("hf_good", true);
    expect([...box.kept.values()]).toEqual(["hf_good"]);
    const again = await opened(box);
    expect(again.state.phase).toBe("in");
    again.logout();
    expect(again.state.phase).toBe("out");
    expect(again.token()).toBeNull();
    expect(box.kept.size).toBe(0);
  });

  test("does not keep a token that is refused", async () => {
    const box = new Box();
    const session = await opened(box);
    await expect(session.login("hf_bad", true)).rejects.toMatchObject({ status: 401 });
    expect(session.token()).toBeNull();
    expect(box.kept.size).toBe(0);
    expect(session.state.phase).toBe("out");
  });

  test("forgets a kept token that is no longer known, and says why", async () => {
    const box = new Box();
    box.setItem("holdfast.token", "hf_old");
    const session = await opened(box);
    expect(session.state.phase).toBe("out");
    expect(session.state.problem?.code).toBe("unauthenticated");
    expect(box.kept.size).toBe(0);
  });

  test("logs out when a later call is refused", async () => {
    const session = await opened(new Box());
    await session.login("hf_good", false);
    session.refused("hf_good");
    expect(session.state).toMatchObject({ phase: "out", problem: { status: 401 } });
  });

  test("does not log out for an answer to an older token", async () => {
    const session = await opened(new Box());
    await session.login("hf_good", false);
    session.refused("hf_older");
    session.refused(null);
    expect(session.state.phase).toBe("in");
  });

  test("goes on asking while the server cannot be reached", async () => {
    const session = new Session("http://h/", null);
    let up = false;
    await session.open(() => (up ? Promise.resolve(me(["read"])) : Promise.reject(new TypeError("no network"))));
    expect(session.state).toMatchObject({ phase: "asking", problem: { code: "unreachable" } });
    up = true;
    await session.retry();
    expect(session.state.phase).toBe("in");
  });

  test("tells its listeners, until they leave", async () => {
    const session = await opened(new Box());
    let told = 0;
    const leave = session.subscribe(() => ++told);
    await session.login("hf_good", false);
    leave();
    session.logout();
    expect(told).toBe(1);
  });
});

describe("tokens and verbs", () => {
  test("what is no token never reaches a header", () => {
    expect(cleanToken("  hf_abc \n")).toBe("hf_abc");
    expect(cleanToken("hf_a b")).toBeNull();
    expect(cleanToken("hf_a\r\nX-Evil: 1")).toBeNull();
    expect(cleanToken("hf_ä")).toBeNull();
    expect(cleanToken("")).toBeNull();
    expect(cleanToken("x".repeat(513))).toBeNull();
  });

  test("each verb includes those below it", () => {
    expect(may({ me: me(["lock"]) }, "read")).toBe(true);
    expect(may({ me: me(["lock"]) }, "admin")).toBe(false);
    expect(may({ me: me(["read", "admin"]) }, "lock")).toBe(true);
    expect(may({ me: me([]) }, "read")).toBe(false);
    expect(may({ me: null }, "read")).toBe(false);
  });

  test("the role is that of the highest verb", () => {
    expect([roleOf(me(["read"])), roleOf(me(["read", "lock"])), roleOf(me(["admin"]))]).toEqual(["read-only", "may lock", "admin"]);
  });

  test("a prefix covers what begins with it, and none covers all", () => {
    expect(covers(me([]), "anything")).toBe(true);
    expect(covers(me([], { prefixes: ["a:", "b"] }), "bc")).toBe(true);
    expect(covers(me([], { prefixes: ["a:"] }), "a")).toBe(false);
  });
});
