// SPDX-License-Identifier: Apache-2.0
//
// As much of a Redis client as the nodes of n8n need: one connection, one command at a time.
import net from 'node:net';

const patience_ms = 60_000;

export class Redis {
  #socket;
  #text = Buffer.alloc(0);
  #waiting = null;
  #log;

  static async connect(port, log) {
    const redis = new Redis();
    redis.#log = log;
    redis.#socket = net.connect(port, '127.0.0.1');
    redis.#socket.setTimeout(patience_ms, () => redis.#fail(new Error('Redis does not answer')));
    redis.#socket.on('error', (error) => redis.#fail(error));
    redis.#socket.on('data', (data) => redis.#read(data));
    await new Promise((done, failed) => {
      redis.#waiting = { done, failed };
      redis.#socket.once('connect', done);
    });
    redis.#waiting = null;
    return redis;
  }

  call(...words) {
    this.#log.push(words.map(String));
    const parts = words.map(String).map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    return new Promise((done, failed) => {
      this.#waiting = { done, failed };
      this.#socket.write(`*${parts.length}\r\n${parts.join('')}`);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #fail(error) {
    this.#waiting?.failed(error);
    this.#socket.destroy();
  }

  #read(data) {
    this.#text = Buffer.concat([this.#text, data]);
    const end = this.#text.indexOf('\r\n');
    if (end < 0 || !this.#waiting) return;
    const line = this.#text.subarray(1, end).toString();
    switch (String.fromCharCode(this.#text[0])) {
      case '+':
        return this.#answer(line, end + 2);
      case ':':
        return this.#answer(Number(line), end + 2);
      case '-':
        this.#text = this.#text.subarray(end + 2);
        return this.#waiting.failed(new Error(line));
      default: {
        const length = Number(line);
        if (length < 0) return this.#answer(null, end + 2);
        if (this.#text.length < end + 4 + length) return undefined;
        return this.#answer(this.#text.subarray(end + 2, end + 2 + length).toString(), end + 4 + length);
      }
    }
  }

  #answer(value, read) {
    this.#text = this.#text.subarray(read);
    this.#waiting.done(value);
  }
}
