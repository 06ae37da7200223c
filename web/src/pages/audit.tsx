// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { problemOf } from "../api/problem";
import type { AuditEntry } from "../api/types";
import { download } from "../parts/download";
import { Empty } from "../parts/empty";
import { Name } from "../parts/name";
import { ProblemNote } from "../parts/problem_note";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { MOST_EXPORTED, auditCsv, collect, useAudit, type AuditFilter } from "../state/audit";
import { useApp } from "../state/context";
import { may } from "../state/session";
import { count, counted } from "../text/number";
import { AuditFilters } from "./audit_filters";
import "../style/tables.css";
import "../style/audit.css";

function Line({ entry }: { entry: AuditEntry }) {
  const grave = entry.what === "forced" || entry.what === "lost" || entry.what === "denied" || entry.what === "entries_dropped";
  return (
    <tr>
      <td data-label="When">
        <Time at={entry.at} />
      </td>
      <td class={grave ? "warn" : ""} data-label="What">{entry.what.replaceAll("_", " ")}</td>
      <td class="wide">{entry.name === undefined ? null : <Name name={entry.name} link />}</td>
      <td data-label="Principal">{entry.principal === undefined ? null : <Name name={entry.principal} />}</td>
      <td class="dim" data-label="Client">{entry.client === undefined ? null : <Name name={entry.client} />}</td>
      <td class="reason" data-label="Reason">{entry.reason === undefined ? null : <Name name={entry.reason} />}</td>
      <td class="number mono dim" data-label="Fence">{entry.fence ?? ""}</td>
      <td class="mono dim" data-label="Request">{entry.request_id ?? ""}</td>
    </tr>
  );
}

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <div class="card scroll-x">
      <table class="dense">
        <caption class="hidden-visually">Audit trail, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">Name</th>
            <th scope="col">Principal</th>
            <th scope="col">Client</th>
            <th scope="col">Reason</th>
            <th scope="col" class="number">Fence</th>
            <th scope="col">Request</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Line key={entry.seq} entry={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ExportButtons({ filter }: { filter: AuditFilter }) {
  const { api } = useApp();
  const [busy, setBusy] = useState(false);
  const save = async (format: "json" | "csv") => {
    setBusy(true);
    try {
      const { entries, cut } = await collect((params) => api.audit(params), filter);
      if (format === "json") download("holdfast-audit.json", "application/json", `${JSON.stringify(entries, null, 1)}\n`);
      else download("holdfast-audit.csv", "text/csv;charset=utf-8", auditCsv(entries));
      toast(cut ? `The newest ${count(MOST_EXPORTED)} were saved; there are more. Narrow the filter for the others.` : `${counted(entries.length, "entry", "entries")} saved.`, cut ? "plain" : "good");
    } catch (thrown) {
      toast(problemOf(thrown).detail, "bad");
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void save("json")}>
        Export JSON
      </button>
      <button type="button" disabled={busy} onClick={() => void save("csv")}>
        Export CSV
      </button>
    </>
  );
}

function Trail() {
  const { api } = useApp();
  const [filter, setFilter] = useState<AuditFilter>({});
  const list = useAudit(api, filter);
  return (
    <div class="page audit">
      <div class="head">
        <h1>Audit</h1>
        <ExportButtons filter={filter} />
      </div>
      <AuditFilters onFilter={setFilter} />
      <ProblemNote problem={list.problem} onRetry={list.loadMore} />
      {list.unreadable > 0 ? <div class="note warn">{counted(list.unreadable, "line")} of the audit file cannot be read.</div> : null}
      {list.entries.length > 0 ? <Entries entries={list.entries} /> : null}
      {!list.loading && list.problem === null && list.entries.length === 0 ? (
        <div class="card">
          <Empty title="No entry matches">{Object.keys(filter).length === 0 ? "What is done to locks through this server is recorded here." : "Clear the filter to see everything."}</Empty>
        </div>
      ) : null}
      <div class="bar">
        {list.more ? (
          <button type="button" disabled={list.loading} onClick={list.loadMore}>
            Load more
          </button>
        ) : null}
        <span class="dim" role="status">
          {list.loading ? "Loading…" : counted(list.entries.length, "entry shown", "entries shown")}
        </span>
      </div>
    </div>
  );
}

export function AuditPage() {
  const { session } = useApp();
  if (may(session, "admin")) return <Trail />;
  return (
    <div class="page">
      <div class="head">
        <h1>Audit</h1>
      </div>
      <div class="card">
        <Empty title="The audit trail needs the verb admin">
          Your token does not have it. Log in with one that was made with <code>holdfast token create NAME --verbs admin --file FILE</code>.
        </Empty>
      </div>
    </div>
  );
}
