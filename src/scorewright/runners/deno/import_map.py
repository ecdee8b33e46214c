"""Where the modules that Deno brings along lead in the jail: nowhere.

Deno's permissions keep files and network from author code, but the modules it has built in are there for anybody
who asks by `eval`. Not all of them work without a permission, but `node:sqlite` does, and any of them could
keep what one item left for the next one. An import map sends them to a module that would have to be loaded, and
the harness never lets Deno load anything.
"""

from __future__ import annotations

from typing import Final

import msgspec

_NOWHERE: Final = "data:text/javascript,"
NODE_MODULES: Final = (
    "assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram "
    "diagnostics_channel dns dns/promises domain events ffi fs fs/promises http http2 https inspector "
    "inspector/promises module net os path path/posix path/win32 perf_hooks process punycode querystring quic "
    "readline readline/promises repl sea sqlite stream stream/consumers stream/promises stream/web string_decoder "
    "sys test test/reporters timers timers/promises tls trace_events tty url util util/types v8 vm wasi "
    "worker_threads zlib _http_agent _http_client _http_common _http_incoming _http_outgoing _http_server "
    "_stream_duplex _stream_passthrough _stream_readable _stream_transform _stream_wrap _stream_writable "
    "_tls_common _tls_wrap"
).split()
"""Every module of Node that Deno knows; `tests/contract/test_deno_jail.py` asks it."""


def import_map_url() -> str:
    """Return the map as the address that Deno is started with."""
    imports = {f"node:{name}": _NOWHERE for name in NODE_MODULES}
    return f"data:application/json,{msgspec.json.encode({'imports': imports}).decode()}"
