// SPDX-License-Identifier: Apache-2.0
//
// The dashboard in Chromium: how soon it is there with 5,000 locks, how it scrolls, and whether a
// server with 5,000 events per second makes it grow or freeze. Ends with the bars.
import { openDashboard, openPage, startBrowser } from "../../tests/browser/support/browser.mjs";
import { fillWithLocks, scrollThrough, startEvents } from "../../tests/browser/support/load.mjs";
import { sleep, startServer } from "../../tests/browser/support/server.mjs";

const LOCKS = 5000;
const REPEATS = 5;
const EVENTS_PER_S = 5000;
const WARM_UP_MS = 150_000;
const BUSY_MINUTES = Number(process.env.HOLDFAST_BUSY_MINUTES ?? 5);

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const round = (value) => Number(value.toPrecision(4));

function bar(name, measured, bound) {
  process.stdout.write(`BAR ${name} ${round(measured)} <= ${bound} ${measured <= bound ? "ok" : "short"}\n`);
}

function row(label, values, unit) {
  const all = values.map(round);
  process.stdout.write(`  ${label.padEnd(50)} ${round(median(values))} ${unit}   ${Math.min(...all)} to ${Math.max(...all)} in ${all.length}\n`);
}

/** What the servers and browsers of one measurement are closed by. */
async function within(work) {
  const ends = [];
  try {
    return await work({ after: (end) => ends.push(end) });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** From the navigation until the table is drawn and says how many locks there are. */
function readyTime(page, server) {
  return (async () => {
    await page.goto("about:blank");
    await page.addInitScript(() => {
      // The frame after the change is the one in which it is seen. Looking at every frame instead
      // would make frames of which the page has no need.
      const watch = new MutationObserver(() => {
        const text = document.querySelector("main [role=status]")?.textContent ?? "";
        if (!/^5,?000 locks$/.test(text) || document.querySelectorAll(".vt [role=row]").length <= 5) return;
        watch.disconnect();
        requestAnimationFrame(() => (globalThis.readyAt = performance.now()));
      });
      watch.observe(document, { subtree: true, childList: true, characterData: true });
    });
    await page.goto(`${server.url}#/locks`);
    await page.waitForFunction(() => globalThis.readyAt !== undefined);
    return page.evaluate(() => globalThis.readyAt);
  })();
}

async function measureReady() {
  const times = [];
  const scrolls = [];
  await within(async (t) => {
    const server = await startServer(t);
    await fillWithLocks(server, LOCKS);
    const browser = await startBrowser(t);
    for (let i = 0; i < REPEATS; ++i) {
      const page = await openPage(t, browser);
      times.push(await readyTime(page, server));
      scrolls.push((await scrollThrough(page)).longest);
      await page.close();
    }
  });
  row("page ready with 5,000 locks", times, "ms");
  row("longest task while scrolling", scrolls, "ms");
  bar("dashboard.page_ready_ms", median(times), 500);
  bar("dashboard.scroll_task_ms", Math.max(...scrolls), 100);
}

/** What is left after a collection, in megabytes: the least of several, since events that are just on their way come and go. */
async function heap(session) {
  const sizes = [];
  for (let i = 0; i < 8; ++i) {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    sizes.push(usedSize / 1e6);
    await sleep(230);
  }
  return Math.min(...sizes);
}

async function longestTask(page) {
  return page.evaluate(() => {
    const longest = Math.max(0, ...globalThis.tasks);
    globalThis.tasks = [];
    return longest;
  });
}

async function measureBusy() {
  await within(async (t) => {
    const server = await startServer(t);
    await fillWithLocks(server, LOCKS);
    const page = await openPage(t, await startBrowser(t));
    await page.addInitScript(() => {
      globalThis.tasks = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) globalThis.tasks.push(entry.duration);
      }).observe({ type: "longtask", buffered: true });
    });
    await openDashboard(page, server, "locks");
    const session = await page.context().newCDPSession(page);
    const load = await startEvents(server, EVENTS_PER_S);
    t.after(() => load.stop());
    // Until every ring and cache is full once, and the page has listed all locks for the second time.
    await sleep(WARM_UP_MS);
    const begin = Date.now();
    const before = load.events();
    await longestTask(page);
    const heaps = [await heap(session)];
    const tasks = [];
    for (let minute = 0; minute < BUSY_MINUTES; ++minute) {
      await sleep(60_000);
      // The collection that is asked for below is no task of the page's.
      tasks.push(await longestTask(page));
      heaps.push(await heap(session));
      await longestTask(page);
    }
    const rate = ((load.events() - before) * 1000) / (Date.now() - begin);
    row("events", [rate], "1/s");
    row("memory, minute by minute", heaps, "MB");
    row("longest task of each minute", tasks, "ms");
    bar("dashboard.busy_growth", heaps.at(-1) / heaps[0], 1.1);
    bar("dashboard.busy_task_ms", median(tasks), 200);
    if (rate < 0.95 * EVENTS_PER_S) throw new Error(`only ${rate} events per second: nothing was measured`);
  });
}

await measureReady();
await measureBusy();
