// SPDX-License-Identifier: Apache-2.0
//
// The files themselves: few bytes, nothing from elsewhere, kept by browsers for as long as they may.
import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { startServer } from "./support/server.mjs";

const MOST_BYTES = 150 * 1024;

function get(server, path, headers = {}) {
  return new Promise((resolve, reject) => {
    http.get(`${server.url}${path}`, { headers }, async (answer) => {
      const pieces = [];
      for await (const piece of answer) pieces.push(piece);
      resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(pieces) });
    }).once("error", reject);
  });
}

const packed = { "Accept-Encoding": "gzip, deflate, br" };

async function allFiles(server) {
  const index = await get(server, "", packed);
  const names = [...gunzipSync(index.body).toString().matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((match) => match[1]);
  const files = await Promise.all(names.map((name) => get(server, name, packed)));
  return { index, names, files };
}

test("all of it together is small", async (t) => {
  const { index, names, files } = await allFiles(await startServer(t));
  assert.ok(names.some((name) => name.endsWith(".js")) && names.some((name) => name.endsWith(".css")));
  const bytes = [index, ...files].reduce((sum, file) => sum + file.body.length, 0);
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
  for (const file of [index, ...files]) {
    assert.equal(file.status, 200);
    assert.equal(file.headers["content-encoding"], "gzip");
  }
});

test("nothing is asked of another server, and nothing stands in line", async (t) => {
  const { index, files, names } = await allFiles(await startServer(t));
  const html = gunzipSync(index.body).toString();
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son\w+=/);
  assert.doesNotMatch(html, /(?:src|href)="(?!\.\/)/);
  files.forEach((file, at) => {
    const text = gunzipSync(file.body).toString();
    if (names[at].endsWith(".css")) assert.doesNotMatch(text, /url\(\s*['"]?(?:https?:)?\/\//);
  });
});

test("a file is kept for ever, the page never, and whoever wants no gzip gets none", async (t) => {
  const server = await startServer(t);
  const { index, names, files } = await allFiles(server);
  assert.equal(index.headers["cache-control"], "no-store");
  assert.match(files[0].headers["cache-control"], /immutable/);
  const plain = await get(server, names[0], { "Accept-Encoding": "gzip;q=0, identity" });
  assert.equal(plain.headers["content-encoding"], undefined);
  assert.deepEqual(plain.body, gunzipSync(files[0].body));
  assert.equal((await get(server, "assets/nothing.js")).status, 404);
});
