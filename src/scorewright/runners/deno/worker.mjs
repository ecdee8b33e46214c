// The harness for JavaScript: loads the author's source and answers batches (../harness/protocol.md).
//
// Deno starts this file without any permission, inside the kernel's layers. Before author code is compiled, everything
// that is not the language is taken out of reach, the built-in objects are frozen so that no item can leave anything
// behind for the next one, and clock and chance stand still.
//
// Standard input and output are one socket to the host. Standard error is the progress file: one byte per item begun.

const D = Deno;
const { parse, stringify } = JSON;
const now = performance.now.bind(performance);
const RealPromise = Promise;
const { then } = RealPromise.prototype;
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const decode = decoder.decode.bind(decoder);
const encode = encoder.encode.bind(encoder);
const inspect = D.inspect;
const read = D.stdin.readSync.bind(D.stdin);
const write = D.stdout.writeSync.bind(D.stdout);
const mark = D.stderr.writeSync.bind(D.stderr);
const exit = D.exit;
/** Runs promise reactions until none is left; tells how much of the heap is used. */
const { runMicrotasks, memoryUsage } = D[D.internal].core;
const { isArray } = Array;
const { defineProperty, getPrototypeOf, keys: ownKeys, prototype: objectPrototype } = Object;
const { isFinite } = Number;
const { round } = Math;
const indirectEval = eval;

const RealFunction = Function;
/** As they were when this started, for the host to judge. */
const [LAYERS] = D.args;
const ENGINE = D.engine ?? `deno ${D.version.deno} / v8 ${D.version.v8}`;

const VALUE = 0, FAILURE = 1;
const MARK = new Uint8Array(1);
const BLANK = /(?:)/;
/**
 * More than a sound evaluator leaves behind. A rejected promise that nobody asked for stays until Deno's event loop turns,
 * which it never does: then another worker goes on.
 */
const MAX_LEFT_BYTES = 32 << 20;
const ITEMS_BETWEEN_LOOKS = 32;
const FLUSH_AFTER_MS = 50;
/** Three bytes a character at most, and a frame may have 2 MiB. */
const FLUSH_CHARS = 1 << 17;
const MAX_RESULT_CHARS = 400_000;
/** More than any result may have in all: what is too much is for the host to say. */
const MAX_TEXT_CHARS = (1 << 18) + 1;
/** What V8 puts before the body of a function that it makes of a text. */
const LINES_BEFORE_BODY = 2;
const MAX_DEPTH = 64;
const MAX_MESSAGE = 500;
const MAX_FRAMES = 12;

// ---- frames -----------------------------------------------------------------------------------------------------

function exactly(length) {
  return fill(new Uint8Array(length));
}

function fill(buffer) {
  let at = 0;
  while (at < buffer.length) {
    const count = read(at ? buffer.subarray(at) : buffer);
    if (count === null) exit(0);
    at += count;
  }
  return buffer;
}

/** One buffer for all messages: a new one each time would cost as much as decoding. */
let incoming = new Uint8Array(1 << 20);

function receive() {
  const header = exactly(5);
  const length = new DataView(header.buffer).getUint32(1, true);
  if (length > incoming.length) incoming = new Uint8Array(length);
  return decode(fill(incoming.subarray(0, length)));
}

function send(kind, text) {
  const body = encode(text);
  const frame = new Uint8Array(5 + body.length);
  frame[0] = kind.charCodeAt(0);
  new DataView(frame.buffer).setUint32(1, body.length, true);
  frame.set(body, 5);
  let at = 0;
  while (at < frame.length) at += write(frame.subarray(at));
}

// ---- what the author's code cannot reach, change or be surprised by ---------------------------------------------

const KEPT = new Set(
  ("globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI " +
    "encodeURIComponent escape unescape Object Function Boolean Symbol Error AggregateError EvalError RangeError " +
    "ReferenceError SyntaxError TypeError URIError SuppressedError Number BigInt Math Date String RegExp Array Int8Array " +
    "Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float16Array Float32Array Float64Array " +
    "BigInt64Array BigUint64Array Map Set WeakMap WeakSet WeakRef ArrayBuffer DataView JSON Promise Reflect Proxy " +
    "Iterator Intl console TextEncoder TextDecoder URL URLSearchParams structuredClone atob btoa queueMicrotask " +
    "setTimeout clearTimeout setInterval clearInterval").split(" "),
);

function removeForeignGlobals() {
  // What it inherits as well: an event listener would outlive its item.
  for (let owner = globalThis; owner !== objectPrototype; owner = getPrototypeOf(owner)) {
    for (const key of Reflect.ownKeys(owner)) {
      // Symbols are how Deno knows its own objects again, this one included. Behind one of them are its event listeners.
      if (typeof key === "string" ? !KEPT.has(key) : typeof owner[key] === "object") delete owner[key];
    }
  }
}

/** Put the objects themselves in the place of what Deno makes them by when they are first asked for. */
function makeLazyGlobals() {
  for (const [name, described] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    if (described.get) defineProperty(globalThis, name, { value: globalThis[name], writable: true, enumerable: false });
  }
}

/** A stream of numbers from a text: sfc32, seeded by a 128-bit mix of the text. */
let chance = () => 0;

function startChance(text) {
  let a = 0x9e3779b9, b = 0x243f6a88, c = 0xb7e15162, d = 1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x85ebca6b);
    b = Math.imul(b ^ (a >>> 13) ^ code, 0xc2b2ae35);
    c = Math.imul(c ^ (b >>> 16), 0x27d4eb2f);
  }
  const next = () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return (sum >>> 0) / 4294967296;
  };
  for (let i = 0; i < 12; i++) next();
  chance = next;
}

/** Start the stream over, once somebody draws from it: most never do. */
function startChanceLater(seed, id) {
  chance = () => {
    startChance(`${seed}/${id}`);
    return chance();
  };
}

/** The run's time, which stands still. */
let clockMs = 0;

function freezeClock() {
  const RealDate = Date;
  function FrozenDate(...given) {
    if (new.target === undefined) return new RealDate(clockMs).toString();
    return Reflect.construct(RealDate, given.length ? given : [clockMs], new.target);
  }
  FrozenDate.prototype = RealDate.prototype;
  FrozenDate.now = () => clockMs;
  FrozenDate.parse = RealDate.parse;
  FrozenDate.UTC = RealDate.UTC;
  Object.defineProperty(FrozenDate, "name", { value: "Date" });
  RealDate.prototype.constructor = FrozenDate;
  delete RealDate.prototype.toTemporalInstant; // Temporal is not there, and its objects are not frozen
  globalThis.Date = FrozenDate;
  Math.random = () => chance();
  freezeIntlClock();
}

/** Without a date, these take the present one, from a clock of their own. */
function freezeIntlClock() {
  const { prototype } = Intl.DateTimeFormat;
  const { get } = Object.getOwnPropertyDescriptor(prototype, "format");
  const { formatToParts } = prototype;
  defineProperty(prototype, "format", {
    get() {
      const format = get.call(this);
      return (date = clockMs) => format(date);
    },
  });
  defineProperty(prototype, "formatToParts", {
    value(date = clockMs) { return formatToParts.call(this, date); },
  });
}

/** Timers whose waiting takes no time: they fire in order as soon as nothing else is left to do. */
let timers = [];
let timerNumber = 0;
let timerClock = 0;

function dropTimers() {
  timers = [];
  timerNumber = timerClock = 0;
}

function installTimers() {
  const add = (call, wait, given, every) => {
    const number = ++timerNumber;
    const delay = Math.max(Number(wait) || 0, 0);
    timers.push({ number, at: timerClock + delay, call, given, every: every ? Math.max(delay, 1) : 0 });
    return number;
  };
  const remove = (number) => { timers = timers.filter((one) => one.number !== number); };
  // Defined, not assigned: looking at Deno's own ones loads a module, which takes ten milliseconds.
  const put = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true });
  put("setTimeout", (call, wait, ...given) => add(call, wait, given, false));
  put("setInterval", (call, wait, ...given) => add(call, wait, given, true));
  put("clearTimeout", remove);
  put("clearInterval", remove);
  // Deno's own one ends the process where the call throws.
  put("queueMicrotask", (call) => {
    if (typeof call !== "function") throw new TypeError("queueMicrotask takes a function");
    then.call(RealPromise.resolve(), () => { call(); });
  });
}

function fireNextTimer() {
  let next = timers[0];
  for (const one of timers) if (one.at < next.at) next = one;
  timers = timers.filter((one) => one !== next);
  timerClock = next.at;
  if (next.every) timers.push({ ...next, at: next.at + next.every });
  next.call(...next.given);
}

/** Objects by which those built-in ones are reached that no property leads to; what an engine does not have needs no freezing. */
function hiddenBuiltIns() {
  const found = [];
  const traced = {};
  for (const make of [
    () => indirectEval("(async () => {})"), () => indirectEval("(function* () {})"), () => indirectEval("(async function* () {})"),
    () => [][Symbol.iterator](), () => new Map()[Symbol.iterator](), () => new Set()[Symbol.iterator](),
    () => ""[Symbol.iterator](), () => "".matchAll(/x/g), () => [].values().map(String), () => Iterator.from({ next() {} }),
    () => new URLSearchParams().entries(), () => atob("%"), () => new Error(), () => Error.captureStackTrace(traced),
  ]) {
    try { found.push(make()); } catch (error) { found.push(error); }
  }
  for (const hook of ["Deno.customInspect", "nodejs.util.inspect.custom"]) {
    inspect({ [Symbol.for(hook)](...given) { found.push(...given); return ""; } });
  }
  found.push(traced);
  return found;
}

/** Segments have prototypes of their own, and the first one costs ten milliseconds: they are frozen once somebody wants them. */
function freezeSegmentsLater() {
  const { prototype } = Intl.Segmenter;
  const { segment } = prototype;
  let isFrozen = false;
  defineProperty(prototype, "segment", {
    value(text) {
      const made = segment.call(this, text);
      if (!isFrozen) for (const value of reachableFrom([made, made[Symbol.iterator]()])) Object.freeze(value);
      isFrozen = true;
      return made;
    },
  });
}

/** Freeze every object that can be reached. */
function freezeBuiltIns() {
  freezeSegmentsLater();
  const reachable = reachableFrom([globalThis, ...hiddenBuiltIns()]);
  for (const prototype of [Object.prototype, Function.prototype, Error.prototype, TypeError.prototype,
    RangeError.prototype, SyntaxError.prototype, ReferenceError.prototype, EvalError.prototype, URIError.prototype]) {
    letOthersOverride(prototype);
  }
  for (const value of reachable) Object.freeze(value);
}

function reachableFrom(from) {
  const seen = new Set();
  const pending = [...from];
  while (pending.length) {
    const value = pending.pop();
    if (value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value)) continue;
    seen.add(value);
    pending.push(getPrototypeOf(value));
    for (const key of Reflect.ownKeys(value)) {
      const described = Object.getOwnPropertyDescriptor(value, key);
      pending.push(described.value, described.get, described.set);
    }
  }
  return seen;
}

/**
 * A frozen property cannot be assigned on objects that inherit it, as in `error.name = "Mine"`. Behind an accessor that
 * defines it on the object instead, it can.
 */
function letOthersOverride(prototype) {
  for (const key of Reflect.ownKeys(prototype)) {
    const described = Object.getOwnPropertyDescriptor(prototype, key);
    if (!("value" in described) || !described.configurable) continue;
    const { value } = described;
    const accessors = {
      get: () => value,
      set(given) {
        if (this === prototype) throw new TypeError(`cannot change ${String(key)} of a built-in object`);
        Object.defineProperty(this, key, { value: given, writable: true, enumerable: true, configurable: true });
      },
    };
    Object.freeze(accessors.get);
    Object.freeze(accessors.set);
    Object.defineProperty(prototype, key, { ...accessors, enumerable: described.enumerable, configurable: true });
  }
}

// ---- prints -----------------------------------------------------------------------------------------------------

const prints = { kept: [], room: 0, written: 0, limit: 0 };

function installConsole() {
  const show = (value) => (typeof value === "string" ? value : inspect(value, { depth: 4, colors: false }));
  const log = (...given) => print(given.map(show).join(" ") + "\n");
  const quiet = () => {};
  const fresh = {};
  for (const name of ["log", "info", "warn", "error", "debug", "trace", "dir", "table"]) fresh[name] = log;
  for (const name of ["group", "groupEnd", "time", "timeEnd", "timeLog", "count", "clear", "assert"]) fresh[name] = quiet;
  fresh.assert = (held, ...given) => { if (!held) log("Assertion failed:", ...given); };
  globalThis.console = fresh;
}

function print(text) {
  prints.written += text.length;
  if (prints.room > 0) {
    const part = text.slice(0, prints.room);
    prints.kept.push(part);
    prints.room -= part.length;
  }
}

function takePrints() {
  if (!prints.written) return "";
  const kept = prints.kept.join("").toWellFormed();
  const dropped = prints.written - kept.length;
  prints.kept = [];
  prints.room = prints.limit;
  prints.written = 0;
  return dropped > 0 ? `${kept}\n… ${dropped.toLocaleString("en-US")} more characters cut` : kept;
}

// ---- what came back, as JSON --------------------------------------------------------------------------------------

class BadReturn extends Error {}

const EXOTIC = [Map, Set, WeakMap, WeakSet, WeakRef, Date, RegExp, RealPromise, Error, ArrayBuffer, DataView,
  getPrototypeOf(Uint8Array), Number, String, Boolean];

/** The objects and lists around the value that is being copied. */
let above = [];

/** Return a copy of plain JSON values; throw BadReturn where a value is none. */
function toPlain(value, path) {
  switch (typeof value) {
    case "string":
      if (value.length > MAX_TEXT_CHARS) value = value.slice(0, MAX_TEXT_CHARS);
      return value.isWellFormed() ? value : value.toWellFormed();
    case "boolean":
      return value;
    case "number":
      if (!isFinite(value)) throw new BadReturn(`${where(path)}${value} is not JSON; return a finite number, or leave it out`);
      return value;
    case "undefined":
      return null;
    case "object": {
      if (value === null) return null;
      if (above.includes(value)) throw new BadReturn(`${where(path)}the value is circular; return plain data`);
      if (above.length > MAX_DEPTH) throw new BadReturn(`${where(path)}nested deeper than ${MAX_DEPTH} levels; return less`);
      above.push(value);
      const copy = isArray(value) ? listToPlain(value, path) : objectToPlain(value, path);
      above.pop();
      return copy;
    }
    default:
      throw new BadReturn(`${where(path)}${nameOfType(value)} is not JSON; return ${typeof value === "bigint" ? "Number(x) or String(x)" : "plain data"}`);
  }
}

function objectToPlain(value, path) {
  if (getPrototypeOf(value) !== objectPrototype) { // most are plain, and to ask after every exotic type takes time
    for (const exotic of EXOTIC) {
      if (value instanceof exotic) {
        throw new BadReturn(`${where(path)}${nameOfType(value)} is not JSON; return plain data`);
      }
    }
  }
  if (typeof value.toJSON === "function") return toPlain(value.toJSON(), path);
  const copy = {};
  for (const key of ownKeys(value)) {
    const part = value[key];
    if (part === undefined) continue;
    const name = key.isWellFormed() ? key : key.toWellFormed();
    const plain = toPlain(part, path ? `${path}.${name}` : name);
    if (name === "__proto__") {
      defineProperty(copy, name, { value: plain, writable: true, enumerable: true, configurable: true });
    } else {
      copy[name] = plain;
    }
  }
  return copy;
}

function listToPlain(value, path) {
  const copy = [];
  for (let i = 0; i < value.length; i++) copy.push(toPlain(value[i], `${path}[${i}]`));
  return copy;
}

function where(path) {
  return path ? `${path}: ` : "";
}

function nameOfType(value) {
  if (typeof value === "bigint") return "BigInt";
  if (typeof value === "symbol") return "Symbol";
  if (typeof value === "function") return "a function";
  const name = value?.constructor?.name;
  return typeof name === "string" && name ? name.slice(0, 60) : "an object";
}

const TOO_LARGE = { code: "output_limit", type: null, message: "", frames: [] };

// ---- failures -----------------------------------------------------------------------------------------------------

/** What V8 says where the process may have no more memory. */
const NO_ROOM = "Array buffer allocation failed";
const NO_TEXT = "(its text could not be made)";
const OUT_OF_MEMORY = { code: "out_of_memory", type: "RangeError", message: "", frames: [] };

function cut(text) {
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1).toWellFormed()}…` : text.toWellFormed();
}

/** Describe what the author's code threw: code, type, message, and frames of the author's file, innermost first. */
function describe(error, filename) {
  try {
    return describeSound(error, filename);
  } catch { // a proxy, for instance, which throws at the mere question what it is
    return { code: "author_error", type: null, message: NO_TEXT, frames: [] };
  }
}

function describeSound(error, filename) {
  if (error instanceof RangeError && error.message === NO_ROOM) return { ...OUT_OF_MEMORY };
  if (error instanceof BadReturn) return { code: "bad_return", type: null, message: cut(error.message), frames: [] };
  if (error instanceof FieldAbsent) return { code: "mapping_error", type: null, message: error.message, frames: [] };
  let message, type = null, stack = "";
  try {
    if (error instanceof Error) {
      const named = Object.hasOwn(error, "name") ? error.name : nameOfType(error);
      type = String(named).slice(0, 160).toWellFormed();
      message = String(error.message);
      stack = String(error.stack);
    } else {
      message = typeof error === "string" ? error : inspect(error, { depth: 2, colors: false });
    }
  } catch {
    message = NO_TEXT;
  }
  return { code: "author_error", type, message: cut(message || type || ""), frames: framesOf(stack, filename) };
}

function framesOf(stack, filename) {
  const frames = [];
  for (const line of stack.split("\n")) {
    const at = line.lastIndexOf(filename);
    if (at < 0) continue;
    const place = /^(?:, <anonymous>)?:(\d{1,7}):\d+/.exec(line.slice(at + filename.length));
    if (!place) continue;
    const called = /^\s*at (?:async )?([^\s(]+) \(/.exec(line);
    frames.push([Number(place[1]) - LINES_BEFORE_BODY, called && called[1] !== "eval" ? called[1].slice(0, 160) : ""]);
    if (frames.length === MAX_FRAMES) break;
  }
  return frames;
}

// ---- binding ------------------------------------------------------------------------------------------------------

class FieldAbsent extends Error {}

const MISSING = Symbol("missing");

function resolve(row, path) {
  let value = row;
  for (const step of path) {
    if (typeof step === "string") {
      if (value === null || typeof value !== "object" || isArray(value) || !Object.hasOwn(value, step)) return MISSING;
      value = value[step];
    } else {
      if (!isArray(value)) return MISSING;
      const at = step < 0 ? value.length + step : step;
      if (at < 0 || at >= value.length) return MISSING;
      value = value[at];
    }
  }
  return value;
}

function decoded(value) {
  if (typeof value === "string" && value.trimStart().startsWith("{")) {
    try { return parse(value); } catch { return value; }
  }
  return value;
}

function showPath([first, ...rest]) {
  return first + rest.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
}

/** Say where a path meets a text: the data may hold JSON as text where its author thinks of an object. */
function whyAbsent(row, path) {
  for (let length = 1; length < path.length; length++) {
    const upTo = path.slice(0, length);
    if (typeof resolve(row, upTo) === "string") return `"${showPath(upTo)}" is text here, not an object or a list`;
  }
  return "";
}

function reader(argument) {
  switch (argument.how) {
    case "constant": {
      const text = stringify(argument.value ?? null);
      return () => parse(text);
    }
    case "inputs":
      return (row) => {
        const value = decoded(row.inputs);
        return value !== null && typeof value === "object" && !isArray(value) ? value : row;
      };
    case "trace":
      return (row) => (Object.hasOwn(row, "trace") ? decoded(row.trace) : null);
    case "testcase":
      return (row) => row;
    case "trace_dict":
      return traceDict;
    case "application_input": {
      const [path] = argument.paths;
      return (row) => {
        const value = resolve(row, path);
        return asInputs(value === MISSING ? null : value);
      };
    }
    default: {
      const { paths, name, required } = argument;
      const [[column, ...further]] = paths;
      const isColumn = paths.length === 1 && !further.length && typeof column === "string" && !(column in objectPrototype);
      const found = (row) => {
        for (const path of paths) {
          const value = resolve(row, path);
          if (value !== MISSING) return value === null && !required ? undefined : value;
        }
        if (required) {
          const what = `field ${paths.map(showPath).join(" or ")} (variable "${name}") is not in this item`;
          throw new FieldAbsent([what, ...paths.map((path) => whyAbsent(row, path)).filter(Boolean)].join("; "));
        }
        return undefined; // JavaScript's own way to leave an argument at its default
      };
      if (!isColumn) return found;
      return (row) => { // what nearly every argument is
        const value = row[column];
        return value === undefined || value === null ? found(row) : value;
      };
    }
  }
}

/** Return what calls a function with the arguments of an item, by position; what no argument fills stays undefined. */
function compileCall(plan) {
  const readers = [];
  for (const argument of plan) readers[argument.position] = reader(argument);
  for (let i = 0; i < readers.length; i++) readers[i] ??= () => undefined;
  const [first, second] = readers;
  if (readers.length === 1) return (evaluate, row) => evaluate(first(row));
  if (readers.length === 2) return (evaluate, row) => evaluate(first(row), second(row));
  return (evaluate, row) => evaluate(...readers.map((read) => read(row)));
}

// ---- the trace of an item of a trace source: what ../../authoring/trace_dict.py makes in Python ----------------------

const SPAN_TYPES = { llm: "llm", embedding: "embedding", agent: "agent", tool: "tool", retriever: "query", reranker: "rerank",
  chain: "chain" };
const TOKENS = [["prompt", "input_tokens"], ["completion", "output_tokens"], ["total", "total_tokens"]];

function isObject(value) {
  return value !== null && typeof value === "object" && !isArray(value);
}

function asObject(value) {
  return isObject(value) ? value : {};
}

/** An input as an object: anything else is wrapped, and an unknown one is empty. */
function asInputs(value) {
  if (isObject(value)) return value;
  return value === null || value === undefined ? {} : { input: value };
}

/** Set a property of any name. */
function put(object, name, value) {
  defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function traceDict(item) {
  const { spans } = item;
  if (!isArray(spans)) return null;
  const trace_id = item.traceId ?? null;
  const errors = countErrors(spans);
  const roots = {};
  const made = [];
  for (let i = 0; i < spans.length; i++) {
    const entry = spanEntry(spans[i], trace_id, errors[i]);
    const parent = made[spans[i].parent];
    if (parent) {
      entry.parent_id = parent.span_id;
      parent.children.push(entry);
    } else {
      becomeRoot(entry, item, ownKeys(roots).length === 0);
      put(roots, entry.span_id, entry);
    }
    made.push(entry);
  }
  for (const entry of made) nameChildren(entry);
  return { trace_id, spans: roots };
}

/** Give a span its children by name as well; not to be listed, since each level would double what a walk goes through. */
function nameChildren(entry) {
  if (!entry.children.length) return;
  const value = {};
  for (const child of entry.children) {
    if (!Object.hasOwn(value, child.name)) put(value, child.name, child);
    else if (isArray(value[child.name])) value[child.name].push(child);
    else put(value, child.name, [value[child.name], child]);
  }
  defineProperty(entry, "spans", { value, writable: true, enumerable: false, configurable: true });
}

/** Say so; the first root tells what is known of the application, the agent or the call, where its span does not. */
function becomeRoot(entry, item, isFirst) {
  const { ag } = entry.attributes;
  if (!Object.hasOwn(ag.type, "trace")) ag.type.trace = "invocation";
  if (!isFirst) return;
  const known = item.llm ?? item.agent ?? item.trace;
  const metrics = asObject(known.metrics);
  if (!Object.hasOwn(ag.metrics.unit, "tokens")) putSums("tokens", null, tokensOf(metrics.token_usage), ag.metrics.unit, ag.metrics);
  if (!Object.hasOwn(ag.metrics.unit, "costs")) putSums("costs", null, costOf(metrics.cost_usd), ag.metrics.unit, ag.metrics);
  if (item.llm) return; // its messages are in the span
  if (!ownKeys(ag.data.inputs).length) ag.data.inputs = asInputs(known.input);
  ag.data.outputs ??= known.output ?? null;
}

function hasFailed(span) {
  return span.status === "ERROR" || span.error !== undefined;
}

/** Count the errors of each span, and of it and all below: parents come before their children. */
function countErrors(spans) {
  const whole = spans.map((span) => Number(hasFailed(span)));
  for (let i = spans.length - 1; i >= 0; i--) {
    if (spans[i].parent >= 0) whole[spans[i].parent] += whole[i];
  }
  return spans.map((span, i) => ({ incremental: Number(hasFailed(span)), cumulative: whole[i] }));
}

function spanEntry(span, trace_id, errors) {
  const recorded = asObject(span.ag);
  const type = { span: SPAN_TYPES[span.kind] ?? "task", ...asObject(recorded.type) };
  const ag = {
    ...recorded,
    type,
    data: spanData(span, asObject(recorded.data)),
    metrics: spanMetrics(span, asObject(recorded.metrics), errors),
  };
  return {
    span_id: span.span_id,
    ...(trace_id === null ? {} : { trace_id }),
    name: span.name,
    span_name: span.name,
    span_type: type.span,
    start_time: span.start_time,
    end_time: span.end_time,
    status_code: span.status,
    ...(span.error === undefined ? {} : { status_message: span.error }),
    attributes: { ...asObject(span.attributes), ag },
    children: [],
  };
}

/** A span's inputs and outputs; what was recorded as `ag.data` goes before. */
function spanData(span, recorded) {
  let outputs = recorded.outputs;
  if (isObject(outputs) && Object.hasOwn(outputs, "__default__")) outputs = span.output ?? outputs.__default__;
  return { ...recorded, inputs: asInputs(recorded.inputs ?? inputsOf(span)), outputs: outputs ?? outputsOf(span) ?? null };
}

function inputsOf(span) {
  if (span.input !== undefined && span.input !== null) return span.input;
  switch (span.kind) {
    case "llm": return span.messages?.length ? { prompt: span.messages } : null;
    case "tool": return span.arguments;
    case "retriever": return typeof span.query === "string" ? { query: span.query } : null;
    default: return null;
  }
}

function outputsOf(span) {
  if (span.output !== undefined && span.output !== null) return span.output;
  switch (span.kind) {
    case "llm": return span.completion?.length ? { completion: span.completion } : null;
    case "tool": return span.result;
    case "retriever": return span.documents ? { documents: span.documents } : null;
    default: return null;
  }
}

function spanMetrics(span, recorded, errors) {
  const unit = { ...asObject(recorded.unit) };
  const metrics = { ...recorded, unit };
  const { duration_ms } = span;
  if (duration_ms !== null) {
    unit.duration = { total: duration_ms / 1000 };
    metrics.duration = { cumulative: duration_ms };
  }
  const tokens = tokensOf(span.tokens);
  const cost = costOf(span.cost_usd);
  putSums("tokens", tokens, tokensOf(span.subtree_tokens) ?? tokens, unit, metrics);
  putSums("costs", cost, Object.hasOwn(span, "subtree_cost_usd") ? costOf(span.subtree_cost_usd) : cost, unit, metrics);
  metrics.errors = errors;
  return metrics;
}

/** What is a span's own, and what is its and that of all below it. */
function putSums(name, own, whole, unit, metrics) {
  if (!whole) return;
  unit[name] = whole;
  metrics[name] = own ? { incremental: { ...own }, cumulative: { ...whole } } : { cumulative: { ...whole } };
}

function tokensOf(usage) {
  const known = TOKENS.filter(([, key]) => typeof usage?.[key] === "number").map(([name, key]) => [name, usage[key]]);
  return known.length ? Object.fromEntries(known) : null;
}

function costOf(usd) {
  return typeof usd === "number" ? { total: usd } : null;
}

// ---- one evaluator ------------------------------------------------------------------------------------------------

function compile(load) {
  // Compiled by itself: a text that closes a bracket too many must not get out of its function.
  const factory = new RealFunction("module", "exports", `${load.source}\n//# sourceURL=${load.filename}`);
  return () => {
    const module = { exports: {} };
    factory.call(undefined, module, module.exports);
    const evaluate = module.exports;
    if (typeof evaluate !== "function") throw new TypeError("the source ran, but left no function named evaluate");
    return evaluate;
  };
}

/**
 * Let a promise come to its end without waiting for real time, and without Deno's event loop: what only that would bring
 * about, such as an imported module, never happens. Reactions without end are for the host to end.
 */
function settle(promise) {
  let done = false;
  let rejected = false;
  let result;
  then.call(
    RealPromise.resolve(promise),
    (value) => { done = true; result = value; },
    (error) => { done = rejected = true; result = error; },
  );
  for (runMicrotasks(); !done; runMicrotasks()) {
    if (!timers.length) throw new Error("evaluate does not end: it awaits something that never comes");
    fireNextTimer();
  }
  if (rejected) throw result;
  return result;
}

/** Make an end of what an item has begun and left: its last reactions are still its own, its timers never fire. */
function endItem() {
  runMicrotasks();
  if (timerNumber) dropTimers();
}

function isThenable(value) {
  return value !== null && typeof value === "object" && typeof value.then === "function";
}

/** Return kind and payload of an item's result as JSON, without its bracket. */
function judge(fresh, call, item, filename) {
  try {
    let value = call(fresh(), item);
    if (isThenable(value)) value = settle(value);
    return usual(value) ?? `[${VALUE},${stringify(toPlain(value, ""))}`;
  } catch (error) {
    above = [];
    return `[${FAILURE},${stringify(describe(error, filename))}`;
  }
}

/** Write what nearly every evaluator returns, a score with its explanation; undefined where it is anything else. */
function usual(value) {
  if (value === null || typeof value !== "object" || getPrototypeOf(value) !== objectPrototype) return undefined;
  if (ownKeys(value).length !== 2 || typeof value.toJSON === "function") return undefined;
  const { score, explanation } = value;
  if (typeof score !== "number" || !isFinite(score) || typeof explanation !== "string") return undefined;
  if (explanation.length > MAX_TEXT_CHARS || !explanation.isWellFormed()) return undefined;
  return `[${VALUE},{"score":${score},"explanation":${stringify(explanation)}}`;
}

function prepare() {
  removeForeignGlobals();
  freezeClock();
  installTimers();
  installConsole();
  makeLazyGlobals();
  // Deno tells its listeners of the end, by what has just been removed, unless it believes that it did.
  globalThis[Symbol.for("Deno.isUnloadDispatched")] = true;
  freezeBuiltIns();
}

/** Return what makes the author's function anew, or null when the source has failed. */
function loaded(load) {
  let fresh = null;
  let failure = null;
  try {
    fresh = compile(load);
    fresh();
  } catch (error) {
    failure = describe(error, load.filename);
  }
  endItem();
  takePrints();
  send("l", stringify({ failure }));
  return failure ? null : fresh;
}

function serve() {
  prepare();
  // Not before all of this was possible: a Deno that cannot be closed like that is a sandbox that is not to be had.
  send("H", `{"layers":${LAYERS},"engine":${stringify(ENGINE)}}`);
  const load = parse(receive());
  clockMs = load.clock_s * 1000;
  prints.limit = prints.room = load.max_output_bytes;
  startChance(load.seed);
  const fresh = loaded(load);
  if (!fresh) return;
  const call = compileCall(load.plan);
  let untilLook = ITEMS_BETWEEN_LOOKS;
  for (;;) {
    const [ids, items] = parse(receive());
    let results = "";
    let began = now();
    let flushed = began;
    for (let i = 0; i < items.length; i++) {
      mark(MARK);
      startChanceLater(load.seed, ids[i]);
      BLANK.exec(""); // or RegExp.$1 would tell of the item before
      const judged = judge(fresh, call, items[i], load.filename);
      endItem();
      const ended = now();
      const us = round((ended - began) * 1000);
      began = ended;
      const prints = takePrints();
      const text = judged.length > MAX_RESULT_CHARS
        ? `[${FAILURE},${stringify(TOO_LARGE)},"",${us}]`
        : `${judged},${prints ? stringify(prints) : '""'},${us}]`;
      results = results ? `${results},${text}` : text;
      if (ended - flushed > FLUSH_AFTER_MS || results.length > FLUSH_CHARS) {
        send("r", `[${results}]`);
        results = "";
        began = flushed = now();
      }
      if (--untilLook === 0) {
        untilLook = ITEMS_BETWEEN_LOOKS;
        if (memoryUsage().heapUsed > MAX_LEFT_BYTES) {
          if (results) send("r", `[${results}]`);
          send("x", "");
          return;
        }
      }
    }
    if (results) send("r", `[${results}]`);
  }
}

// Within the event, so that no turn of Deno's event loop comes after it: neither of the two calls of exit returns.
addEventListener("load", () => {
  try {
    serve();
    exit(0);
  } catch {
    exit(70);
  }
});
