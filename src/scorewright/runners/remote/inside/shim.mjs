// Lets the harness for JavaScript, which is written for Deno, run in Node: the few things it takes from Deno, over Node's own.

import { readSync, writeSync } from "node:fs";
import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";

if (!("isWellFormed" in String.prototype)) {
  writeSync(2, `Node ${process.versions.node} is too old; 20 or newer is needed`);
  process.exit(1);
}

const stream = (descriptor) => ({
  readSync: (buffer) => readSync(descriptor, buffer) || null,
  writeSync: (buffer) => writeSync(descriptor, buffer),
});

/** V8's own way to run promise reactions until none is left, which Node keeps to itself; closed again before anything else. */
function microtaskRunner() {
  // Where tests have no Node and make do with Deno: that has it at hand.
  if (globalThis.Deno) return Deno[Deno.internal].core.runMicrotasks;
  setFlagsFromString("--allow-natives-syntax");
  const run = new Function("%PerformMicrotaskCheckpoint()");
  setFlagsFromString("--no-allow-natives-syntax");
  return run;
}

const value = {
  internal: "own",
  // Node lets go of rejected promises by itself.
  own: { core: { runMicrotasks: microtaskRunner(), memoryUsage: () => ({ heapUsed: 0 }) } },
  args: ["{}"],
  engine: `node ${process.versions.node} / v8 ${process.versions.v8}`,
  version: {},
  inspect,
  stdin: stream(0),
  stdout: stream(1),
  stderr: stream(2),
  exit: process.exit.bind(process),
};
// Defined, not assigned: where tests have no Node and make do with Deno, its own one is read-only.
Object.defineProperty(globalThis, "Deno", { value, configurable: true });

const listeners = [];
globalThis.addEventListener = (_, listener) => listeners.push(listener); // "load" is the only one
await import("./worker.mjs");
// From a turn of its own: reactions cannot be run out of a reaction, which this is.
setImmediate(() => { for (const listener of listeners) listener(); });
