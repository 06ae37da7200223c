// SPDX-License-Identifier: Apache-2.0
//
// Under a path of somebody else's server, as a reverse proxy gives it.
import http from "node:http";
import test from "node:test";
import { openPage, rowOf, startBrowser } from "./support/browser.mjs";
import { atEnd, startServer } from "./support/server.mjs";

/** Passes /tools/locks/… on without that prefix, and everything else to nobody. */
function startProxy(t, server) {
  const [host, port] = server.address.split(":");
  const prefix = "/tools/locks/";
  const proxy = http.createServer((request, response) => {
    if (!request.url.startsWith(prefix)) {
      response.writeHead(404).end();
      return;
    }
    const path = `/${request.url.slice(prefix.length)}`;
    const passed = http.request({ host, port, path, method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.once("error", () => response.destroy());
    response.once("close", () => passed.destroy());
    request.pipe(passed);
  });
  atEnd(t, () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return new Promise((resolve) => {
    proxy.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${proxy.address().port}${prefix}`));
  });
}

test("the dashboard works under a path prefix", async (t) => {
  const server = await startServer(t);
  const url = await startProxy(t, server);
  const page = await openPage(t, await startBrowser(t));
  await page.goto(`${url}#/try-it`);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("through-a-proxy");
  await page.getByRole("button", { name: "Acquire", exact: true }).click();
  await page.getByText("held", { exact: true }).waitFor();
  await page.goto(`${url}#/locks`);
  await rowOf(page, "through-a-proxy").waitFor();
});
