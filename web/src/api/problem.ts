// SPDX-License-Identifier: Apache-2.0
import type { Problem } from "./types";

/** Why a call failed. A status of 0 means that no server answered. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** What else the problem document says, such as the holders of a busy lock. */
  readonly more: Partial<Problem>;

  constructor(status: number, code: string, detail: string, more: Partial<Problem> = {}) {
    super(detail);
    this.name = "ApiProblem";
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.more = more;
  }
}

/** Makes an ApiProblem of whatever was thrown. */
export function problemOf(thrown: unknown): ApiProblem {
  if (thrown instanceof ApiProblem) return thrown;
  if (thrown instanceof DOMException && thrown.name === "AbortError") {
    return new ApiProblem(0, "cancelled", "The request was cancelled.");
  }
  return new ApiProblem(0, "unreachable", "The server cannot be reached. Check that it runs and that the network is up.");
}

/** Of an answer that is not 2xx; a proxy in between may answer with something that is no problem document. */
export function problemOfBody(status: number, body: unknown): ApiProblem {
  const said = (typeof body === "object" && body !== null ? body : {}) as Partial<Problem>;
  const code = typeof said.code === "string" ? said.code : "unknown_answer";
  const detail = typeof said.detail === "string" ? said.detail : `The server answered with status ${status}.`;
  return new ApiProblem(status, code, detail, said);
}
