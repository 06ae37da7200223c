// SPDX-License-Identifier: Apache-2.0
//
// The one thing of Node that a test needs, without its types as a dependency.
declare module "node:fs" {
  export function readFileSync(path: URL, encoding: "utf8"): string;
}
