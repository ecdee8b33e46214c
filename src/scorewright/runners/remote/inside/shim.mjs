// Lets the harness for JavaScript, which is written for Deno, run in Node: the few things it takes from Deno, over Node's own.

import { readSync, writeSync } from "node:fs";
import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";

const stream = (descriptor) => ({
  readSync: (buffer) => readSync(descriptor, buffer) || null,
  writeSync: (buffer) => writeSync(descriptor, buffer),
});

/** V8's own way to run promise reactions until none is left, which Node keeps to itself; closed again before anything else. */
setFlagsFromString("--allow-natives-syntax");
const runMicrotasks = new Function("%PerformMicrotaskCheckpoint()");
setFlagsFromString("--no-allow-natives-syntax");

globalThis.Deno = {
  internal: "own",
  own: { core: { runMicrotasks } },
  args: ["{}"],
  engine: `node ${process.versions.node} / v8 ${process.versions.v8}`,
  version: {},
  inspect,
  stdin: stream(0),
  stdout: stream(1),
  stderr: stream(2),
  exit: process.exit.bind(process),
};

const listeners = [];
globalThis.addEventListener = (_, listener) => listeners.push(listener); // "load" is the only one
await import("./worker.mjs");
// From a turn of its own: reactions cannot be run out of a reaction, which this is.
setImmediate(() => { for (const listener of listeners) listener(); });
