// SPDX-License-Identifier: Apache-2.0
//
// What each kind of node does with its items, as n8n does it. A node gets `call`, which has its
// inputs and evaluates its parameters, and returns a list of items for each output.
import vm from 'node:vm';

import { Redis } from './resp.mjs';

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function redis(call) {
  const client = await Redis.connect(call.job.redis_port, call.commands);
  try {
    const items = [];
    for (const index of call.items.keys()) items.push(await redisItem(client, call, index));
    return [items];
  } finally {
    client.close();
  }
}

async function redisItem(client, call, index) {
  const get = (name) => call.parameter(name, index);
  const key = get('key');
  const json = {};
  switch (get('operation')) {
    case 'incr': {
      json[key] = await client.call('INCR', key);
      // Two commands, as n8n sends them.
      if (get('expire') && get('ttl') > 0) await client.call('EXPIRE', key, get('ttl'));
      return { json, pairedItem: { item: index } };
    }
    case 'set':
      await client.call('SET', key, get('value'));
      if (get('expire')) await client.call('EXPIRE', key, get('ttl'));
      return { ...call.items[index], pairedItem: { item: index } };
    case 'get':
      // Only what was asked for: the item that came in is gone.
      json[get('propertyName')] = await client.call('GET', key);
      return { json, pairedItem: { item: index } };
    case 'delete':
      await client.call('DEL', key);
      return { ...call.items[index], pairedItem: { item: index } };
    default:
      throw new Error(`Redis: operation ${get('operation')}`);
  }
}

function code(call) {
  if (call.node.parameters.language !== 'javaScript') throw new Error('Unknown language');
  const globals = call.globals(0);
  delete globals.$json; // there is none where a node runs once for all items
  if (call.job.has_crypto) globals.crypto = globalThis.crypto;
  const script = `(() => {\n${call.node.parameters.jsCode}\n})()`;
  // What a sandbox makes has other prototypes than ours, and is copied as n8n copies it.
  const made = JSON.parse(JSON.stringify(vm.runInNewContext(script, globals, { timeout: 5000 })));
  return [(Array.isArray(made) ? made : [made]).map((item) => (item.json ? item : { json: item }))];
}

function iff(call) {
  const outputs = [[], []];
  const { conditions, combinator, options } = call.node.parameters.conditions;
  if (combinator !== 'and') throw new Error(`If: combinator ${combinator}`);
  for (const index of call.items.keys()) {
    const isMet = conditions.every(({ leftValue, operator }) => {
      const value = call.evaluate(leftValue, index);
      if (operator.operation !== 'true') throw new Error(`If: ${operator.operation}`);
      if (options.typeValidation === 'strict' && typeof value !== 'boolean') {
        throw new Error(`Wrong type: '${value}' is a ${typeof value} but was expecting a boolean`);
      }
      return value === true;
    });
    outputs[isMet ? 0 : 1].push({ ...call.items[index], pairedItem: { item: index } });
  }
  return outputs;
}

async function wait(call) {
  if (call.parameter('unit', 0) !== 'seconds') throw new Error('Wait: unit');
  await sleep(1000 * call.parameter('amount', 0));
  return [call.passed()];
}

function set(call) {
  return [
    call.items.map((item, index) => {
      const json = {};
      for (const { name, value } of call.node.parameters.assignments.assignments) {
        json[name] = call.evaluate(value, index);
      }
      return { json, pairedItem: { item: index } };
    }),
  ];
}

function merge(call) {
  const { mode, useDataOfInput } = call.node.parameters;
  const inputs = call.inputs.map((items, input) =>
    items.map((item, index) => ({ ...item, pairedItem: { item: index, input } })),
  );
  if (mode === 'chooseBranch') return [inputs[useDataOfInput - 1]];
  if (mode === 'append') return [inputs.flat()];
  throw new Error(`Merge: mode ${mode}`);
}

// Version 3, one item at a time: what is done, then what is in the loop.
function loop(call) {
  const state = call.context;
  if (!state.left) state.left = [...call.items];
  else state.done = [...(state.done ?? []), ...call.items];
  if (state.left.length > 0) return [[], [state.left.shift()]];
  return [state.done, []];
}

async function executeWorkflow(call) {
  const inputs = call.node.parameters.workflowInputs.value;
  const items = call.items.map((item, index) => ({
    json: Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => [name, call.evaluate(value, index)]),
    ),
  }));
  return [await call.runOther(call.node.parameters.workflowId.value, items)];
}

// A refusal goes to the error output, as what n8n's HTTP client throws.
async function httpRequest(call) {
  const { method } = call.node.parameters;
  const response = await fetch(call.parameter('url', 0), {
    method,
    headers: { 'content-type': 'application/json' },
    body: call.parameter('jsonBody', 0),
    signal: AbortSignal.timeout(call.evaluate(call.node.parameters.options.timeout, 0)),
  });
  const body = await response.json();
  if (response.ok) return [[{ json: body }], []];
  if (call.node.onError !== 'continueErrorOutput') throw new Error(`${response.status}`);
  const error = { message: `${response.status} - ${JSON.stringify(body)}`, error: body };
  return [[], [{ json: { ...call.items[0].json, error } }]];
}

export const kinds = {
  code,
  executeWorkflow,
  httpRequest,
  if: iff,
  merge,
  redis,
  set,
  splitInBatches: loop,
  wait,
  noOp: (call) => [call.passed()],
  stopAndError: (call) => {
    throw new Error(call.parameter('errorMessage', 0));
  },
  // A step that takes time, and one that fails, for the workflows of the tests.
  testPause: async (call) => {
    await sleep(call.parameter('ms', 0));
    return [call.passed()];
  },
  testDropAll: () => [[]],
};
