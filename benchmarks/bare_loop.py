"""The work without a product around it: read the records, call the three functions, add the scores up.

    python benchmarks/bare_loop.py RECORDS.jsonl

Prints the sums as JSON. Nothing is isolated, bound, checked, kept or written.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

EVALUATORS = {
    name: import_module(f"evaluators.{name}").evaluate
    for name in ("exact_match", "json_document", "number_within_tolerance")
}


def main() -> None:
    sums = dict.fromkeys(EVALUATORS, 0.0)
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            for name, evaluate in EVALUATORS.items():
                sums[name] += evaluate(record["output"], record["expected"])["score"]
    print(json.dumps(sums))


if __name__ == "__main__":
    main()
