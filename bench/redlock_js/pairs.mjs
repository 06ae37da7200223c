// SPDX-License-Identifier: Apache-2.0
//
//   node pairs.mjs IN_FLIGHT WARM_UP_MS WINDOW_MS PORT...
//
// So many acquires and releases at a time, each on a name of its own, over the servers on these
// ports. Prints pairs per second.
import { createRequire } from 'node:module';
import Redis from 'ioredis';

// The package's entry for import statements cannot be loaded by Node; the one for require can.
const Redlock = createRequire(import.meta.url)('redlock').default;

const [inFlight, warmUp, window, ...ports] = process.argv.slice(2).map(Number);
const clients = ports.map((port) => new Redis(port, '127.0.0.1'));
const redlock = new Redlock(clients, { driftFactor: 0.01, retryCount: 3, retryDelay: 200, retryJitter: 200 });
const ttlMs = 30000;

let pairs = 0;
let stop = false;

async function slot(name) {
  while (!stop) {
    const lock = await redlock.acquire([name], ttlMs);
    await lock.release();
    pairs += 1;
  }
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

await Promise.all(clients.map((client) => client.ping()));
const slots = Array.from({ length: inFlight }, (_, i) => slot(`js:order:${i}`));
await sleep(warmUp);
const before = pairs;
const began = process.hrtime.bigint();
await sleep(window);
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
console.log(((pairs - before) / seconds).toFixed(1));
stop = true;
await Promise.all(slots);
await Promise.all(clients.map((client) => client.quit()));
