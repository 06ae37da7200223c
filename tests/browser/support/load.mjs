// SPDX-License-Identifier: Apache-2.0
//
// Many locks and many events, with few system calls: the machine is needed for what is measured.
import net from "node:net";
import { sleep } from "./server.mjs";

function request(address, path, body) {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nHost: ${address}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

function connect(address) {
  const [host, port] = address.split(":");
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), host, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Counts the answers on a connection, and complains of any that is not 200. */
function counting(socket) {
  const state = { answers: 0, bad: null };
  let rest = "";
  socket.on("data", (bytes) => {
    const text = rest + bytes.toString("latin1");
    for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
      state.answers += 1;
      if (status !== "200") state.bad ??= status;
    }
    rest = text.slice(Math.max(0, text.lastIndexOf("HTTP/1.1 ") === -1 ? text.length - 12 : text.length - 8));
    if (/HTTP\/1\.1 \d{3}/.test(rest)) rest = "";
  });
  return state;
}

export async function fillWithLocks(server, count) {
  const socket = await connect(server.address);
  const state = counting(socket);
  let text = "";
  for (let i = 0; i < count; ++i) {
    text += request(server.address, `/v1/locks/job:${String(i).padStart(5, "0")}/acquire`, {
      owner: `owner-${i}`,
      ttl: "1h",
      metadata: { host: `web-${i % 40}`, pid: 1000 + i, program: "worker", note: `shard ${i}` },
    });
  }
  socket.write(text);
  while (state.answers < count) {
    if (state.bad !== null) throw new Error(`an acquire was answered ${state.bad}`);
    await sleep(20);
  }
  socket.destroy();
}

/** Acquires and releases at a steady pace: each pair is two events. Ends with `stop`. */
export async function startEvents(server, perSecond) {
  const socket = await connect(server.address);
  const state = counting(socket);
  const tick = 20;
  let sent = 0;
  const begin = Date.now();
  const timer = setInterval(() => {
    const due = Math.floor(((Date.now() - begin) * perSecond) / 1000 / 2);
    let text = "";
    for (; sent < due; ++sent) {
      const name = `hot:${sent % 200}`;
      text += request(server.address, `/v1/locks/${name}/acquire`, { owner: "load", ttl: "30s", metadata: { host: "load", pid: 1 } });
      text += request(server.address, `/v1/locks/${name}/release`, { owner: "load" });
    }
    if (text !== "") socket.write(text);
  }, tick);
  return {
    events: () => state.answers,
    stop() {
      clearInterval(timer);
      socket.destroy();
      if (state.bad !== null) throw new Error(`a call was answered ${state.bad}`);
    },
  };
}

/** Scrolls the table of locks from its head to its end by the wheel; the longest task meanwhile. */
export async function scrollThrough(page) {
  await page.evaluate(() => {
    globalThis.longTasks = [];
    globalThis.longWatch = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) globalThis.longTasks.push(entry.duration);
    });
    globalThis.longWatch.observe({ type: "longtask" });
  });
  const table = page.locator(".vt");
  const box = await table.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const seen = new Set();
  for (let i = 0; i < 120; ++i) {
    await page.mouse.wheel(0, i < 100 ? 600 : 20_000);
    if (i % 5 === 0) {
      for (const name of await page.locator(".vt [role=row] bdi").allInnerTexts()) seen.add(name);
    }
    await page.waitForTimeout(16);
  }
  const tasks = await page.evaluate(() => globalThis.longTasks);
  return { longest: Math.round(Math.max(0, ...tasks)), seen: seen.size };
}
