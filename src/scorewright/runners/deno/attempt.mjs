// One attempt at what the kernel's layers are to refuse, with every permission that Deno can give (attempts.py).
//
// What is attempted is the package's own text, handed over by the launcher. To the host this is a worker like any other:
// it is loaded and given items (../harness/protocol.md). What they say is not looked at.

const [LAYERS, STEPS] = Deno.args;
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const AsyncFunction = (async () => {}).constructor;
/** The loader looks where it always does; the rest is for machines where that is not enough. */
const LIBRARIES = ["libc.so.6", "/lib64/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6"];
const MAX_SHOWN = 160;
const NOT_PERMITTED = 1;

// ---- frames, as in worker.mjs -------------------------------------------------------------------------------------

function exactly(length) {
  const buffer = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = Deno.stdin.readSync(buffer.subarray(at));
    if (count === null) Deno.exit(0);
    at += count;
  }
  return buffer;
}

function receive() {
  return decoder.decode(exactly(new DataView(exactly(5).buffer).getUint32(1, true)));
}

function send(kind, value) {
  const body = encoder.encode(JSON.stringify(value));
  const frame = new Uint8Array(5 + body.length);
  frame[0] = kind.charCodeAt(0);
  new DataView(frame.buffer).setUint32(1, body.length, true);
  frame.set(body, 5);
  for (let at = 0; at < frame.length;) at += Deno.stdout.writeSync(frame.subarray(at));
}

// ---- the C library ------------------------------------------------------------------------------------------------

function openLibrary() {
  const words = (count) => new Array(count).fill("i64");
  const symbols = {
    syscall: { parameters: words(7), result: "i64" },
    fork: { parameters: [], result: "i32" },
    system: { parameters: ["buffer"], result: "i32" },
    kill: { parameters: ["i32", "i32"], result: "i32" },
    socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
    setuid: { parameters: ["u32"], result: "i32" },
    calloc: { parameters: ["usize", "usize"], result: "pointer" },
    memset: { parameters: ["pointer", "i32", "usize"], result: "pointer" },
    __errno_location: { parameters: [], result: "pointer" },
  };
  for (const path of LIBRARIES) {
    try { return Deno.dlopen(path, symbols).symbols; } catch { /* the next one */ }
  }
  throw new Error("no C library");
}

/** The library, whose refusals are thrown. */
function makeLibc() {
  const library = openLibrary();
  const kept = []; // what the kernel is pointed at must not move
  const textAt = (text) => {
    kept.push(encoder.encode(`${text}\0`));
    return BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(kept.at(-1))));
  };
  const errno = () => new Deno.UnsafePointerView(library.__errno_location()).getInt32();
  const asked = (result) => {
    if (result < 0) throw new Error(`errno ${errno()}`);
    return String(result);
  };
  const raw = (number, ...given) => {
    const words = given.map((value) => (typeof value === "string" ? textAt(value) : BigInt(value)));
    while (words.length < 6) words.push(0n);
    return library.syscall(BigInt(number), ...words);
  };
  return {
    call: (number, ...given) => asked(raw(number, ...given)),
    fork: () => asked(library.fork()),
    kill: (process, signal) => asked(library.kill(process, signal)),
    socket: (...given) => asked(library.socket(...given)),
    setuid: (user) => asked(library.setuid(user)),
    system(command) {
      const status = library.system(encoder.encode(`${command}\0`));
      if (status !== 0) throw new Error(`status ${status}`);
      return "it ran";
    },
    /** Whether so much more memory was had, and used. */
    take(bytes) {
      const place = library.calloc(1, bytes);
      if (place) library.memset(place, 1, bytes);
      return place !== null;
    },
    execute(execve) {
      const words = new BigInt64Array([textAt("deno"), textAt("--version"), 0n]);
      kept.push(words);
      const at = Deno.UnsafePointer.value(Deno.UnsafePointer.of(words));
      return asked(raw(execve, "/deno", BigInt(at), 0));
    },
    /** Return the first of these numbers that is answered by anything but a plain no. */
    firstNotRefused(numbers) {
      for (const number of numbers) {
        const result = raw(number, -1, -1, -1, -1, -1, -1);
        const error = errno();
        if (result !== -1n || error !== NOT_PERMITTED) return `${number} gave ${result}, errno ${error}`;
      }
      throw new Error(`all ${numbers.length} of them`);
    },
  };
}

// ---- the attempt --------------------------------------------------------------------------------------------------

async function attempt() {
  try {
    const loot = await new AsyncFunction("libc", STEPS)(makeLibc());
    return { score: 1, explanation: `escaped: ${Deno.inspect(loot)}`.slice(0, MAX_SHOWN) };
  } catch (error) {
    return { score: 0, explanation: `refused: ${error}`.slice(0, MAX_SHOWN) };
  }
}

send("H", { layers: JSON.parse(LAYERS), engine: `deno ${Deno.version.deno} / v8 ${Deno.version.v8}` });
receive();
send("l", { failure: null });
for (;;) {
  receive();
  Deno.stderr.writeSync(new Uint8Array(1));
  send("r", [[0, await attempt(), "", 0]]);
}
