// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty";
import { ProblemNote } from "../parts/problem_note";
import { VirtualTable } from "../parts/virtual_table";
import { useApp, useBoardVersion, useLive, useNow } from "../state/context";
import type { Row } from "../state/row";
import { sortedBy, viewOf, type View } from "../state/view";
import { count, counted } from "../text/number";
import { LOCK_COLUMNS, lockCard } from "./locks_columns";
import { LocksBar } from "./locks_bar";
import "../style/locks.css";

/** Whoever comes back from a lock's page finds the table as it was. */
let kept: View = { prefix: "", kind: null, sort: "queue", down: true };

/** Arrow keys lead into the table from wherever nothing else wants them. */
function useArrowsInto(): (event: KeyboardEvent) => void {
  const enter = useRef((event: KeyboardEvent) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    document.querySelector<HTMLElement>(".vt")?.focus();
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target;
      if (target === document.body || (target instanceof HTMLElement && target.matches("main"))) enter.current(event);
    };
    document.addEventListener("keydown", onKey);
    return () => { document.removeEventListener("keydown", onKey); };
  }, []);
  return enter.current;
}

function Nothing({ view }: { view: View }) {
  const { board } = useApp();
  if (!board.complete) return <Empty title="Loading locks…" />;
  if (board.rows.size > 0) return <Empty title="No lock matches">Nothing {view.kind === null ? "" : "of this kind "}begins with what you typed.</Empty>;
  return (
    <Empty title="Nobody holds a lock">
      Locks appear here while somebody holds or waits for them. Take one on the page <a href="#/try-it">Try it</a>, or with
      <code> holdfast run NAME -- command</code>.
    </Empty>
  );
}

export function LocksPage() {
  const { board, live, navigate } = useApp();
  const version = useBoardVersion();
  const status = useLive();
  const now = useNow(500);
  const [view, setView] = useState(kept);
  kept = view;
  // Counted in the same moment: the board goes on while its last picture is still shown.
  const { rows, total } = useMemo(() => ({ rows: viewOf(board.rows.values(), view), total: board.rows.size }), [board, version, view]);
  const enter = useArrowsInto();
  const open = (row: Row) => { navigate({ page: "lock", name: row.name }); };
  const shown = rows.length === total ? counted(total, "lock") : `${count(rows.length)} of ${counted(total, "lock")}`;
  return (
    <div class="page fill locks">
      <div class="head">
        <h1>Locks</h1>
        <span class="dim" role="status">
          {shown}
          {status.listing && !board.complete ? ", loading" : ""}
        </span>
      </div>
      <LocksBar view={view} onView={setView} onEnter={enter} narrowed={live.prefix} overflow={board.overflow} onNarrow={(prefix) => { live.narrow(prefix); }} />
      <ProblemNote problem={status.listProblem} />
      {rows.length === 0 ? (
        <div class="card">
          <Nothing view={view} />
        </div>
      ) : (
        <div class="numbers table-host">
          <VirtualTable
            label="Locks"
            rows={rows}
            columns={LOCK_COLUMNS}
            keyOf={(row) => row.name}
            card={lockCard}
            now={now}
            sort={{ key: view.sort, down: view.down }}
            onSort={(key) => { setView(sortedBy(view, key)); }}
            onOpen={open}
          />
        </div>
      )}
    </div>
  );
}
