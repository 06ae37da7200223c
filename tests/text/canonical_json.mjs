// SPDX-License-Identifier: Apache-2.0
// Reads an array of JSON documents, and answers what JavaScript makes of each: its canonical form
// and the fingerprint of a request with it. Null where a number became Infinity.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const isPlain = (value) => value === null || typeof value !== 'object';

function hasInfinity(value) {
  if (isPlain(value)) return value === Infinity || value === -Infinity;
  return Object.values(value).some(hasInfinity);
}

function canonical(value) {
  if (isPlain(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

function fingerprint(body) {
  const parts = ['POST', '/payments?x=1', canonical(body ?? {}), canonical({ x: '1' })];
  return createHash('sha256').update(parts.join('|')).digest('hex');
}

const answers = JSON.parse(readFileSync(0, 'utf8')).map((text) => {
  const body = JSON.parse(text);
  if (hasInfinity(body)) return { canonical: null };
  return { canonical: canonical(body), fingerprint: fingerprint(body) };
});
process.stdout.write(JSON.stringify(answers));
