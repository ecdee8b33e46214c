// Lets the harness for JavaScript, which is written for Deno, run in Node: the few things it takes from Deno, over Node's own.

import { readSync, writeSync } from "node:fs";
import { inspect } from "node:util";

if (!("isWellFormed" in String.prototype)) {
  writeSync(2, `Node ${process.versions.node} is too old; 20 or newer is needed`);
  process.exit(1);
}

const stream = (descriptor) => ({
  readSync: (buffer) => readSync(descriptor, buffer) || null,
  writeSync: (buffer) => writeSync(descriptor, buffer),
});

const value = {
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
globalThis.addEventListener = (name, listener) => {
  if (name === "load") listeners.push(listener);
  else process.on("unhandledRejection", () => {}); // the only other one
};
await import("./worker.mjs");
for (const listener of listeners) listener();
