// From TypeScript to JavaScript, once per run, in a process of its own in the same jail: a parser reads hostile text.
//
// Nothing of the author's runs here. One message comes in, the source; one goes out: the JavaScript, and for each of its
// lines the source's line (null where they are the same ones), or what is wrong.

const [LAYERS] = Deno.args;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

function exactly(length) {
  const buffer = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = Deno.stdin.readSync(buffer.subarray(at));
    if (count === null) Deno.exit(0);
    at += count;
  }
  return buffer;
}

function send(kind, text) {
  const body = encoder.encode(text);
  const frame = new Uint8Array(5 + body.length);
  frame[0] = kind.charCodeAt(0);
  new DataView(frame.buffer).setUint32(1, body.length, true);
  frame.set(body, 5);
  for (let at = 0; at < frame.length;) at += Deno.stdout.writeSync(frame.subarray(at));
}

/** Runs in a thread of its own, from its text: the parser asks for the stack's bounds, which only threads know without /proc. */
async function translator() {
  const { stripTypeScriptTypes } = await import("node:module");
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  /** Read the source's line, from 1, of each line of what was made of it, out of a source map (version 3). */
  function linesOf(mappings) {
    const lines = [];
    let source = 0;
    for (const line of mappings.split(";")) {
      let first = null;
      for (const segment of line.split(",")) {
        const fields = [];
        let value = 0, shift = 0;
        for (const digit of segment) {
          const bits = DIGITS.indexOf(digit);
          value += (bits & 31) * 2 ** shift;
          shift += 5;
          if (bits & 32) continue;
          fields.push(value & 1 ? -Math.floor(value / 2) : value / 2);
          value = shift = 0;
        }
        if (fields.length < 4) continue;
        source += fields[2];
        first ??= source;
      }
      lines.push((first ?? source) + 1);
    }
    return lines;
  }

  function translate(source) {
    try {
      // Types become blanks: every line and column stays.
      return { code: stripTypeScriptTypes(source, { mode: "strip" }), lines: null, error: null };
    } catch {
      // There is more than types: enums, namespaces, parameter properties.
    }
    try {
      const made = stripTypeScriptTypes(source, { mode: "transform", sourceMap: true });
      const at = made.lastIndexOf("//# sourceMappingURL=");
      const map = made.slice(at);
      // As Latin-1 is good enough: the mappings are ASCII, and nothing else is looked at.
      const { mappings } = JSON.parse(atob(map.slice(map.indexOf(",") + 1).trim()));
      return { code: made.slice(0, at), lines: linesOf(mappings), error: null };
    } catch (error) {
      return { code: "", lines: null, error: String(error.message).slice(0, 400).toWellFormed() };
    }
  }

  self.onmessage = ({ data }) => self.postMessage(translate(data));
  self.postMessage(null);
}

const engine = JSON.stringify(`deno ${Deno.version.deno} / v8 ${Deno.version.v8}`);
send("H", `{"layers":${LAYERS},"engine":${engine}}`);
const header = exactly(5);
const source = decoder.decode(exactly(new DataView(header.buffer).getUint32(1, true)));
const thread = new Worker(URL.createObjectURL(new Blob([`(${translator})()`], { type: "text/javascript" })), { type: "module" });
thread.onmessage = ({ data }) => {
  if (data === null) {
    thread.postMessage(source);
  } else {
    send("t", JSON.stringify(data));
    Deno.exit(0);
  }
};
