// SPDX-License-Identifier: Apache-2.0
//
// What one would write elsewhere to take the same lock.
import type { AcquireBody } from "../api/client";
import type { Kind } from "../api/types";
import { cppString, jsonText, shellWord } from "./quote";

export interface Wanted {
  name: string;
  kind: Kind;
  mode: "read" | "write";
  capacity: number;
  permits: number;
  /** One integer and one unit. */
  ttl: string;
  wait: string;
  note: string;
}

export interface Place {
  /** Where the server is: "http://localhost:3009/". */
  url: string;
  needsToken: boolean;
}

/** The body of POST v1/locks/NAME/acquire; what is the default is left out. */
export function bodyOf(wanted: Wanted): AcquireBody {
  const body: AcquireBody = { ttl: wanted.ttl, wait: wanted.wait };
  if (wanted.kind !== "mutex") body.kind = wanted.kind;
  if (wanted.kind === "read_write") body.mode = wanted.mode;
  if (wanted.kind === "semaphore") {
    body.capacity = wanted.capacity;
    body.permits = wanted.permits;
  }
  if (wanted.note !== "") body.metadata = { note: wanted.note };
  return body;
}

function waits(wanted: Wanted): boolean {
  return !/^0+(ms|s|m|h)$/.test(wanted.wait);
}

export function curl(wanted: Wanted, place: Place): string {
  const dots = wanted.name === "." || wanted.name === "..";
  const path = `v1/locks/${encodeURIComponent(wanted.name)}/acquire`;
  const lines = [`curl ${dots ? "--path-as-is " : ""}${shellWord(place.url + path)}`];
  if (place.needsToken) lines.push('-H "Authorization: Bearer $HOLDFAST_TOKEN"');
  lines.push("-H 'Content-Type: application/json'", `-d ${shellWord(jsonText(bodyOf(wanted)))}`);
  return lines.join(" \\\n  ");
}

/** "5m" is 5min there. */
function chrono(duration: string): string {
  return duration.replace(/(\d)m$/, "$1min");
}

function cppCall(wanted: Wanted, options: string): string {
  const name = cppString(wanted.name);
  switch (wanted.kind) {
    case "mutex":
      return `mutex(${name}).acquire(${options})`;
    case "reentrant":
      return `reentrant(${name}).acquire(${options})`;
    case "read_write":
      return `read_write(${name}).${wanted.mode === "read" ? "acquire_shared" : "acquire"}(${options})`;
    case "semaphore":
      return `semaphore(${name}, ${wanted.capacity}).acquire(${options})`;
    case "election":
      return `election(${name}).campaign("http://this-host:8080", ${options})`;
  }
}

/** The address as a store; a token stands in a variable, never in the URL. */
function storeUrl(place: Place): string {
  const url = place.url.replace(/\/$/, "");
  return place.needsToken ? `${url}?token_env=HOLDFAST_TOKEN` : url;
}

export function cpp(wanted: Wanted, place: Place): string {
  const options = [`.ttl = ${chrono(wanted.ttl)}`];
  if (waits(wanted)) options.push(`.wait = ${chrono(wanted.wait)}`);
  if (wanted.kind === "semaphore" && wanted.permits !== 1) options.push(`.permits = ${wanted.permits}`);
  if (wanted.note !== "") options.push(`.note = ${cppString(wanted.note)}`);
  return `auto client = holdfast::open(${cppString(storeUrl(place))});\nauto lease = client->${cppCall(wanted, `{${options.join(", ")}}`)};`;
}

function shellKind(wanted: Wanted): string[] {
  if (wanted.kind === "reentrant") return ["--reentrant"];
  if (wanted.kind === "read_write" && wanted.mode === "read") return ["--shared"];
  if (wanted.kind === "semaphore") return ["--permits", `${wanted.permits}/${wanted.capacity}`];
  return [];
}

export function shell(wanted: Wanted, place: Place): string {
  if (wanted.name.includes("\0")) return "# A name with a zero byte cannot stand on a command line.";
  const elect = wanted.kind === "election";
  const words = ["holdfast", elect ? "elect" : "run", "--store", shellWord(storeUrl(place)), ...shellKind(wanted)];
  if (wanted.ttl !== "30s") words.push("--ttl", wanted.ttl);
  if (!elect) words.push(...(waits(wanted) ? ["--wait", wanted.wait] : ["--no-wait"]));
  if (wanted.note !== "" && !wanted.note.includes("\0")) words.push(shellWord(`--note=${wanted.note}`));
  if (!wanted.name.startsWith("-")) words.push(shellWord(wanted.name));
  else if (elect) return "# 'holdfast elect' takes no name that begins with a dash.";
  else words.push(shellWord(`--name=${wanted.name}`));
  return `${words.join(" ")} -- command`;
}
