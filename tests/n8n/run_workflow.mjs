// SPDX-License-Identifier: Apache-2.0
//
// Runs workflows of n8n against a real Redis, without n8n: the graph in its execution order v1, and
// the nodes that Holdfast writes. Reads a job from standard input:
//
//   {"redis_port": 6379, "has_crypto": true,
//    "workflows": {"<id>": {…}},                      what executeWorkflow may call
//    "runs": [{"workflow": {…}, "items": [{…}], "output": 0, "execution": "7", "after": [0],
//              "delay_ms": 0}]}
//
// `output` is the trigger's output that gives the items; a run starts when those of `after` have
// ended, and `delay_ms` later. Writes for each run, in their order:
//
//   {"error": "…" or absent, "items": [what the last node gave], "ran": [names of nodes],
//    "commands": [what was sent to Redis]}
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

import { kinds } from './nodes.mjs';

const job = JSON.parse(readFileSync(0, 'utf8'));
const kindOf = (node) => node.type.slice(node.type.lastIndexOf('.') + 1);
const isTrigger = (node) => /(trigger|webhook)$/i.test(kindOf(node));

class Execution {
  constructor(workflow, id, commands) {
    Object.assign(this, { workflow, id, commands, ran: [], runs: {}, contexts: {} });
    this.nodes = Object.fromEntries(workflow.nodes.map((node) => [node.name, node]));
    this.stack = [];
    this.waiting = {};
  }

  // n8n goes on with the topmost, leftmost node, and finishes what is behind it first.
  targetsOf(name) {
    const targets = [];
    (this.workflow.connections[name]?.main ?? []).forEach((list, output) => {
      for (const { node, index } of list ?? []) targets.push({ output, node, index });
    });
    const place = ({ node }) => this.nodes[node].position;
    return targets.sort((a, b) => place(a)[1] - place(b)[1] || place(a)[0] - place(b)[0]);
  }

  inputsOf(name) {
    const all = Object.values(this.workflow.connections).flatMap((kinds) => kinds.main ?? []);
    const indexes = all.flatMap((list) => list ?? []).filter(({ node }) => node === name);
    return 1 + Math.max(0, ...indexes.map(({ index }) => index));
  }

  async run(items, output) {
    const trigger = this.workflow.nodes.find((node) => isTrigger(node) && !node.disabled);
    const outputs = Array.from({ length: output + 1 }, () => []);
    outputs[output] = items;
    this.finish(trigger.name, [], outputs);
    for (let steps = 0; this.stack.length > 0 || this.wakeOne(); ++steps) {
      if (steps > 10_000) throw new Error('the workflow does not end');
      await this.step(this.stack.shift());
    }
    return this.runs[this.ran.at(-1)].at(-1).outputs[0] ?? [];
  }

  finish(name, source, outputs) {
    (this.runs[name] ??= []).push({ outputs, source });
    this.ran.push(name);
    const run = this.runs[name].length - 1;
    const next = [];
    for (const target of this.targetsOf(name)) {
      const items = outputs[target.output] ?? [];
      // An empty list still counts as an arrival at a second input.
      if (items.length === 0 && target.index === 0) continue;
      const arrived = this.arrive(target, items, { node: name, output: target.output, run });
      if (arrived) next.push(arrived);
    }
    this.stack.unshift(...next);
  }

  arrive({ node, index }, items, source) {
    const count = this.inputsOf(node);
    if (count === 1) return { node, inputs: [items], source: [source] };
    const waits = (this.waiting[node] ??= { inputs: Array(count).fill(null), source: [] });
    waits.inputs[index] = items;
    waits.source[index] = source;
    if (waits.inputs.includes(null)) return null;
    delete this.waiting[node];
    return { node, ...waits };
  }

  // With nothing left to run, a node that need not have all of its inputs runs with those it has.
  wakeOne() {
    const names = Object.keys(this.waiting);
    for (const name of names) {
      const waits = this.waiting[name];
      const needsAll = this.nodes[name].parameters.mode === 'chooseBranch';
      if (needsAll || this.parentsOf(name).some((parent) => names.includes(parent))) continue;
      delete this.waiting[name];
      const inputs = waits.inputs.map((items) => items ?? []);
      if (inputs.every((items) => items.length === 0)) return this.wakeOne();
      this.stack.push({ node: name, inputs, source: waits.source });
      return true;
    }
    return false;
  }

  parentsOf(name, seen = new Set()) {
    for (const [from, { main }] of Object.entries(this.workflow.connections)) {
      const leads = (main ?? []).flat().some((target) => target?.node === name);
      if (!leads || seen.has(from)) continue;
      seen.add(from);
      this.parentsOf(from, seen);
    }
    return [...seen];
  }

  async step({ node: name, inputs, source }) {
    const node = this.nodes[name];
    const items = node.executeOnce ? inputs[0].slice(0, 1) : inputs[0];
    const call = new Call(this, node, items, inputs, source);
    const outputs = node.disabled ? [call.passed()] : await kinds[kindOf(node)](call);
    for (const made of outputs) {
      made.forEach((item, index) => {
        if (item.pairedItem === undefined && items.length === 1) item.pairedItem = { item: 0 };
        if (item.pairedItem === undefined && items.length === made.length) {
          item.pairedItem = { item: index };
        }
      });
    }
    this.finish(name, source, outputs);
  }

  // The item of a node from which an item of another one was made.
  itemBehind(target, { node, output, run }, index) {
    const { outputs, source } = this.runs[node][run];
    const item = outputs[output][index];
    if (node === target) return item;
    if (!item.pairedItem) throw new Error(`no link from ${node} to ${target}`);
    const { item: at, input = 0 } = item.pairedItem;
    return this.itemBehind(target, source[input], at);
  }
}

// What one node sees.
class Call {
  constructor(execution, node, items, inputs, source) {
    Object.assign(this, { execution, node, items, inputs, source, job });
    this.commands = execution.commands;
    this.context = execution.contexts[node.name] ??= {};
  }

  passed() {
    return this.items.map((item, index) => ({ ...item, pairedItem: { item: index } }));
  }

  parameter(name, index) {
    return this.evaluate(this.node.parameters[name], index);
  }

  evaluate(value, index) {
    if (typeof value !== 'string' || !value.startsWith('=')) return value;
    const text = value.slice(1);
    const globals = this.globals(index);
    const run = (script) => vm.runInNewContext(`(${script})`, globals, { timeout: 5000 });
    const whole = /^\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text.trim());
    if (whole) return run(whole[1]);
    return text.replace(/\{\{((?:(?!\}\}).)*)\}\}/gs, (_, script) => String(run(script) ?? ''));
  }

  globals(index) {
    const { execution, items } = this;
    return {
      $json: items[index]?.json,
      $input: { all: () => items, first: () => items[0], last: () => items.at(-1) },
      $execution: { id: execution.id },
      $workflow: { id: execution.workflow.id ?? 'wf', name: execution.workflow.name },
      $: (name) => this.other(name, index),
    };
  }

  other(name, index) {
    const runs = this.execution.runs[name];
    if (!runs) throw new Error(`Node '${name}' hasn't been executed`);
    const all = (output = 0) => runs.at(-1).outputs[output] ?? [];
    const matching = (at) => this.execution.itemBehind(name, this.source[0], at);
    return {
      all,
      first: (output) => all(output)[0],
      itemMatching: matching,
      get item() {
        return matching(index);
      },
    };
  }

  async runOther(id, items) {
    const workflow = job.workflows[id];
    if (!workflow) throw new Error(`Workflow does not exist: ${id}`);
    const other = new Execution(workflow, `${this.execution.id}.sub`, this.commands);
    const made = await other.run(items, 0);
    return made.map(({ json }) => ({ json }));
  }
}

async function perform({ workflow, items, output = 0, execution = '1' }) {
  const commands = [];
  const running = new Execution(workflow, execution, commands);
  const result = { commands, ran: running.ran };
  try {
    const made = await running.run(items.map((json) => ({ json })), output);
    result.items = made.map(({ json }) => json);
  } catch (error) {
    result.error = error.message;
  }
  return result;
}

const started = [];
for (const run of job.runs) {
  const before = (run.after ?? []).map((index) => started[index]);
  started.push(
    Promise.all(before)
      .then(() => new Promise((done) => setTimeout(done, run.delay_ms ?? 0)))
      .then(() => perform(run)),
  );
}
process.stdout.write(JSON.stringify(await Promise.all(started)));
