// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { CopyButton } from "../parts/copy_button";
import { Empty } from "../parts/empty";
import { useApp, useBoard, useNow } from "../state/context";
import { covers, may, type SessionState } from "../state/session";
import type { Tries, Try } from "../state/tries";
import { cpp, curl, shell, type Place, type Wanted } from "../text/snippets";
import { faultsOf } from "../text/wanted";
import { TryCard } from "./try_card";
import { TryForm } from "./try_form";
import "../style/try_it.css";

/** Whoever comes back finds the form as it was. */
let kept: Wanted = { name: "demo", kind: "mutex", mode: "write", capacity: 3, permits: 1, ttl: "30s", wait: "5m", note: "" };

/** Where the server is, without the route. */
function placeOf(needsToken: boolean): Place {
  return { url: new URL(".", document.baseURI).href, needsToken };
}

function useTries(tries: Tries): readonly Try[] {
  const [list, setList] = useState(tries.list);
  useEffect(() => {
    setList(tries.list);
    return tries.subscribe(() => { setList(tries.list); });
  }, [tries]);
  return list;
}

/** Events do not say which waiter is ours, the lock itself does: it is asked for while one of ours waits. */
function useAskWhileWaiting(list: readonly Try[]): void {
  const { live } = useApp();
  const names = [...new Set(list.filter((one) => one.phase === "waiting").map((one) => one.wanted.name))].sort();
  useEffect(() => {
    if (names.length === 0) return;
    const ask = () => { for (const name of names) live.refresh(name); };
    const timer = setInterval(ask, 1500);
    ask();
    return () => { clearInterval(timer); };
  }, [live, names.join("\n")]);
}

function Snippet({ title, text }: { title: string; text: string }) {
  return (
    <section class="snippet" aria-label={title}>
      <header>
        <h3>{title}</h3>
        <CopyButton text={text} label={`Copy ${title}`} />
      </header>
      <pre tabIndex={0}>
        <bdi>{text}</bdi>
      </pre>
    </section>
  );
}

function Snippets({ wanted, place }: { wanted: Wanted; place: Place }) {
  return (
    <section class="card" aria-label="The same elsewhere">
      <header>
        <h2>The same elsewhere</h2>
      </header>
      <div class="body snippets">
        <Snippet title="curl" text={curl(wanted, place)} />
        <Snippet title="C++" text={cpp(wanted, place)} />
        <Snippet title="Shell" text={shell(wanted, place)} />
      </div>
    </section>
  );
}

function refusalOf(session: SessionState, wanted: Wanted, full: boolean): string | null {
  if (!may(session, "lock")) return "Your token may only read. Taking a lock needs the verb lock.";
  if (session.me !== null && !covers(session.me, wanted.name)) return `Your token covers only names that begin with ${session.me.prefixes.join(", ")}.`;
  if (Object.keys(faultsOf(wanted)).length > 0) return "Correct the marked fields first.";
  return full ? "Release or cancel some first." : null;
}

export function TryItPage({ tries }: { tries: Tries }) {
  const { session } = useApp();
  const board = useBoard();
  const list = useTries(tries);
  const now = useNow(250);
  const [wanted, setWanted] = useState(kept);
  kept = wanted;
  useAskWhileWaiting(list);
  const refusal = refusalOf(session, wanted, tries.full);
  return (
    <div class="page try-it">
      <div class="head">
        <h1>Try it</h1>
        <span class="dim">Take a real lock from this page, and see what others see</span>
      </div>
      <div class="halves">
        <section class="card" aria-label="Acquire a lock">
          <header>
            <h2>Acquire a lock</h2>
          </header>
          <div class="body">
            <TryForm wanted={wanted} faults={faultsOf(wanted)} refusal={refusal} onChange={setWanted} onSubmit={() => { if (refusal === null) void tries.start(wanted); }} />
          </div>
        </section>
        <Snippets wanted={wanted} place={placeOf(session.me?.needs_token ?? false)} />
      </div>
      {list.length === 0 ? (
        <div class="card">
          <Empty title="Nothing acquired in this tab yet">
            Each acquisition gets a card here. Its lease is renewed while this tab is open, and ends by itself when you close it.
          </Empty>
        </div>
      ) : (
        <div class="try-cards">
          {list.map((one) => (
            <TryCard key={one.id} one={one} row={board.get(one.wanted.name)} now={now} tries={tries} />
          ))}
        </div>
      )}
    </div>
  );
}
