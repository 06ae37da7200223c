// SPDX-License-Identifier: Apache-2.0
import type { ApiProblem } from "../api/problem";

/** What one can do about a problem; empty where the detail says it already. */
export function adviceFor(problem: ApiProblem): string {
  switch (problem.code) {
    case "unreachable":
      return "This page asks again by itself.";
    case "unauthenticated":
      return "Log in with a token that the server knows.";
    case "forbidden":
      return "Your token does not allow this. Ask for one with another verb or prefix.";
    case "foreign_host":
      return "Open the page under an address that the server listens on, or add this one to allowed_hosts.";
    case "unavailable":
    case "not_replicated":
    case "quorum_not_reached":
      return "The store does not answer as it should. “holdfast doctor” says why.";
    case "rate_limited":
    case "limit_reached":
    case "too_many_connections":
      return "The server is asked too much at once. Wait a little.";
    case "not_found":
      return "The server may be older than this page.";
    default:
      return "";
  }
}
