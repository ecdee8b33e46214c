"""Write the bundled data: what customers of a made-up outdoor shop asked and what its assistant answered.

    python examples/support/generate.py [FOLDER]

The same files come out on every machine: answers.jsonl (240 rows), answers_sample.csv (20 of them),
traced.jsonl (24 answers of the shop's order agent, each with its trace) and traces.otlp.jsonl (the same
answers as OpenTelemetry traces). Nobody in them exists.
"""

import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

from exported import requests
from shop import (
    ADVICE,
    CLOSERS,
    COMPLAINTS,
    COUNTRIES,
    FREE_SHIPPING_FROM,
    OPENERS,
    PRODUCTS,
    RETURNS,
    SHOP,
    WARRANTY,
)

#: How good an answer gets, drawn at random.
QUALITIES = ("right",) * 7 + ("close", "wrong", "vague")


@dataclass(frozen=True)
class Case:
    """One question and its answer, before ids and channels are given out."""

    question: str
    context: str | None
    expected: str | None
    output: str | None
    facts: tuple[str, ...]
    difficulty: str


def money(amount: float) -> str:
    """An amount as the shop writes it."""
    return f"€{amount:,.2f}"


def reply(rng: Random, *sentences: str) -> str:
    """A whole message: an opening, what matters, a closing; any of the outer two may be missing."""
    parts = (rng.choice(OPENERS), *sentences, rng.choice(CLOSERS))
    return " ".join(part for part in parts if part)


def spoil(rng: Random, amount: float, quality: str, traps: tuple[float, ...]) -> float:
    """The amount that an answer of this quality names."""
    if quality == "close":
        return round(amount + rng.choice((-0.10, -0.01, 0.01, 0.05, 0.10)), 2)
    if quality == "wrong":
        return round(
            rng.choice([trap for trap in traps if abs(trap - amount) > 0.2] or [amount * 2]), 2
        )
    return amount


def amount_case(
    rng: Random,
    question: str,
    context: str,
    amount: float,
    working: str,
    traps: tuple[float, ...],
    difficulty: str,
) -> Case:
    """A question whose answer is an amount of money."""
    quality = rng.choice(QUALITIES)
    named = spoil(rng, amount, quality, traps)
    sentence = rng.choice(
        (
            f"{working} That comes to {money(named)}.",
            f"The amount is {money(named)}.",
            f"{working} So the total is {money(named)}, VAT included.",
            f"In your case that makes {money(named)}.",
        )
    )
    if quality == "vague":
        sentence = rng.choice(
            (
                "The exact amount is shown on your order page.",
                "I am afraid I cannot see the amount from here. Could you send me your order number again?",
            )
        )
    return Case(
        question, context, f"{amount:.2f}", reply(rng, sentence), (f"{amount:,.2f}",), difficulty
    )


def refund(rng: Random) -> Case:
    product, price = rng.choice(list(PRODUCTS.items()))
    bought = rng.randint(2, 4)
    returned = rng.randint(1, bought - 1)
    fee = rng.choice((0.00, 0.00, 3.90, 4.90))
    amount = round(returned * price - fee, 2)
    question = rng.choice(
        (
            f"I bought {bought} × {product} at {money(price)} each and send {returned} back. What will I be refunded?",
            f"How much do I get back if I return {returned} of my {bought} items ({product}, {money(price)} each)?",
            f"Returning {returned} × {product}. Price was {money(price)} a piece. What is my refund?",
        )
    )
    label = (
        "Return labels are free."
        if fee == 0
        else f"A return label costs {money(fee)}, taken off the refund."
    )
    working = f"{returned} × {money(price)}" + (
        f" less {money(fee)} for the return label." if fee else ", and the label is free."
    )
    traps = (bought * price, returned * price, returned * price - 2 * fee)
    return amount_case(rng, question, label, amount, working, traps, "medium" if fee else "easy")


def order_total(rng: Random) -> Case:
    (first, first_price), (second, second_price) = rng.sample(list(PRODUCTS.items()), 2)
    quantity = rng.randint(1, 3)
    country, (postage, _) = rng.choice(list(COUNTRIES.items()))
    goods = round(quantity * first_price + second_price, 2)
    shipping = 0.00 if goods >= FREE_SHIPPING_FROM else postage
    amount = round(goods + shipping, 2)
    question = rng.choice(
        (
            f"What do {quantity} × {first} and 1 × {second} cost in total, delivered to {country}?",
            f"I would like {quantity} × {first} plus 1 × {second}, shipped to {country}. How much is that all together?",
            f"Total price to {country} for {quantity} × {first} and 1 × {second}, please?",
        )
    )
    context = (
        f"{first}: {money(first_price)}. {second}: {money(second_price)}. Shipping to {country}: {money(postage)}, "
        f"free from {money(FREE_SHIPPING_FROM)}."
    )
    working = f"The goods are {money(goods)}, " + (
        "and shipping is free." if shipping == 0 else f"shipping is {money(shipping)}."
    )
    return amount_case(
        rng, question, context, amount, working, (goods, goods + postage, goods - postage), "hard"
    )


def shipping_cost(rng: Random) -> Case:
    country, (postage, _) = rng.choice(list(COUNTRIES.items()))
    product, price = rng.choice(list(PRODUCTS.items()))
    amount = 0.00 if price >= FREE_SHIPPING_FROM else postage
    question = rng.choice(
        (
            f"How much is postage to {country} for the {product}?",
            f"What would shipping the {product} to {country} cost me?",
            f"Shipping to {country}: what do you charge? I only want the {product}.",
        )
    )
    context = f"{product}: {money(price)}. Shipping to {country}: {money(postage)}, free from {money(FREE_SHIPPING_FROM)}."
    working = (
        f"Orders from {money(FREE_SHIPPING_FROM)} ship free of charge."
        if amount == 0
        else f"To {country} we charge a flat rate."
    )
    return amount_case(
        rng, question, context, amount, working, (postage, 0.00, postage + 5), "easy"
    )


def policy_case(
    rng: Random, question: str, context: str, expected: str, facts: tuple[str, ...], twisted: str
) -> Case:
    """A question whose answer is in the shop's terms."""
    quality = rng.choice(QUALITIES)
    if quality == "close":
        sentence = expected.split(". ")[0].rstrip(".") + "."
    elif quality == "wrong":
        sentence = twisted
    elif quality == "vague":
        sentence = "Please have a look at our terms and conditions, everything is explained there."
    else:
        sentence = expected
    return Case(
        question, context, expected, reply(rng, sentence), facts, rng.choice(("easy", "medium"))
    )


def from_terms(rng: Random, terms: tuple) -> Case:
    questions, expected, facts, twisted = rng.choice(terms)
    context = f"From the terms of {SHOP}: {expected}"
    return policy_case(rng, rng.choice(questions), context, expected, facts, twisted)


def delivery_time(rng: Random) -> Case:
    country, (_, days) = rng.choice(list(COUNTRIES.items()))
    weekday = rng.choice(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"))
    question = rng.choice(
        (
            f"How long does delivery to {country} take?",
            f"If I order on {weekday}, when will it arrive in {country}?",
            f"I need the parcel in {country} soon. How many days should I expect?",
        )
    )
    expected = f"Delivery to {country} takes {days} working days. You get a tracking link as soon as the parcel leaves us."
    twisted = f"Delivery to {country} is guaranteed overnight."
    context = f"Delivery to {country}: {days} working days after dispatch."
    return policy_case(
        rng, question, context, expected, (f"{days} working days", "tracking link"), twisted
    )


def order_status(rng: Random) -> Case:
    order_id = f"FH-{rng.randint(10_000, 99_999)}"
    status = rng.choice(("packed", "shipped", "delivered", "awaiting_payment"))
    products = rng.sample(list(PRODUCTS.items()), rng.randint(1, 3))
    items = [
        {"name": name, "quantity": rng.randint(1, 3), "unit_price": price}
        for name, price in products
    ]
    total = round(sum(item["quantity"] * item["unit_price"] for item in items), 2)
    document = {"order_id": order_id, "status": status, "items": items, "total": total}
    expected = json.dumps(document, ensure_ascii=False)
    given = dict(document)
    quality = rng.choice((*QUALITIES, "fenced", "cut"))
    if quality == "close":
        del given[rng.choice(("status", "items", "total"))]
    elif quality == "wrong":
        given["items"] = []
    output = json.dumps(given, ensure_ascii=False)
    if quality == "vague":
        output = f"Your order {order_id} has the status {status}."
    elif quality == "fenced":
        output = f"```json\n{output}\n```"
    elif quality == "cut":
        output = output[: len(output) * 2 // 3]
    question = rng.choice(
        (
            f"status {order_id} as json",
            f"GET order {order_id}",
            f"Return the record of order {order_id} as JSON.",
        )
    )
    return Case(question, None, expected, output, (order_id, status), "medium")


def complaint(rng: Random) -> Case:
    """No reference answer exists: how the reply reads is all there is to judge."""
    question, answer = rng.choice(COMPLAINTS)
    if rng.random() < 0.3:
        answer = rng.choice(
            ("Ok.", "That is the carrier's fault, not ours!!!", "Please fill in the form.")
        )
    return Case(question, None, None, reply(rng, answer), (), "hard")


CATEGORIES = (
    ("refund", 44, refund),
    ("order_total", 36, order_total),
    ("shipping_cost", 30, shipping_cost),
    ("returns", 30, lambda rng: from_terms(rng, RETURNS)),
    ("warranty", 18, lambda rng: from_terms(rng, WARRANTY)),
    ("delivery_time", 22, delivery_time),
    ("product_advice", 20, lambda rng: from_terms(rng, ADVICE)),
    ("order_status", 28, order_status),
    ("complaint", 12, complaint),
)
#: Rows whose reference was lost on export: the key itself is missing, which is not the same as null.
WITHOUT_REFERENCE = (17, 90, 163, 204)
#: The assistant sent nothing at all, or crashed before it answered.
EMPTY_ANSWERS = (41, 118, 187)
MISSING_ANSWERS = (66, 149)


def answers(seed: str) -> list[dict]:
    """The rows of answers.jsonl, in order."""
    rng = Random(seed)
    labels = [(name, make) for name, count, make in CATEGORIES for _ in range(count)]
    rng.shuffle(labels)
    rows = []
    for number, (category, make) in enumerate(labels, start=1):
        case = make(rng)
        row = {
            "id": f"support-{number:03}",
            "category": category,
            "difficulty": case.difficulty,
            "channel": "api"
            if category == "order_status"
            else rng.choice(("chat", "chat", "email")),
            "input": case.question,
            "context": case.context,
            "expected": case.expected,
            "output": case.output,
            "facts": list(case.facts),
            "latency_ms": rng.randint(280, 4200),
        }
        if number in WITHOUT_REFERENCE:
            del row["expected"]
        if number in EMPTY_ANSWERS:
            row["output"] = ""
        if number in MISSING_ANSWERS:
            row["output"] = None
        rows.append(row)
    return rows


def span(name: str, start: int, duration: float, attributes: dict, children: list) -> dict:
    """One span; `start` and `duration` in seconds after nine o'clock."""

    def clock(seconds: float) -> str:
        return f"2026-03-02T09:{int(seconds) // 60:02}:{seconds % 60:06.3f}Z"

    return {
        "name": name,
        "start_time": clock(start),
        "end_time": clock(start + duration),
        "status_code": "OK",
        "attributes": attributes,
        "children": children,
    }


def traced(seed: str) -> list[dict]:
    """The rows of traced.jsonl: an agent that looks orders up with tools, and the trace of each answer."""
    rng = Random(seed)
    rows = []
    for number in range(1, 25):
        order_id = f"FH-{rng.randint(10_000, 99_999)}"
        status = rng.choice(("packed", "shipped", "delivered"))
        parcel = f"FP{rng.randint(10**7, 10**8 - 1)}"
        question = f"Where is my order {order_id}?"
        calls = [
            {
                "tool": "find_order",
                "arguments": {"order_id": order_id},
                "result": {"status": status, "parcel": parcel},
            }
        ]
        if rng.random() < 0.75:
            calls.append(
                {
                    "tool": "track_parcel",
                    "arguments": {"parcel": parcel},
                    "result": {"place": rng.choice(("depot", "van", "parcel shop"))},
                }
            )
        output = f"Your order {order_id} is {status}." + (
            f" The parcel {parcel} was last seen at: {calls[1]['result']['place']}."
            if len(calls) > 1
            else ""
        )
        duration = round(rng.uniform(0.6, 7.5), 3)
        prompt, completion = rng.randint(180, 900), rng.randint(20, 160)
        unit = {
            "costs": {"total": round((prompt + 3 * completion) * 2e-6, 6)},
            "tokens": {"prompt": prompt, "completion": completion, "total": prompt + completion},
            "duration": {"total": duration},
        }
        start = number * 90
        steps = [
            span(
                call["tool"],
                start + 0.1 + 0.2 * place,
                0.15,
                {
                    "ag": {
                        "type": {"span": "tool"},
                        "data": {"inputs": call["arguments"], "outputs": call["result"]},
                    }
                },
                [],
            )
            for place, call in enumerate(calls)
        ]
        attributes = {
            "ag": {
                "type": {"span": "agent"},
                "data": {"inputs": {"question": question}, "outputs": output},
                "metrics": {"unit": unit},
            }
        }
        rows.append(
            {
                "id": f"order-{number:02}",
                "input": question,
                "output": output,
                "expected": f"Your order {order_id} is {status}.",
                "tool_context": calls,
                "trace": {
                    "spans": {
                        f"{rng.getrandbits(64):016x}": span(
                            "order_agent", start, duration, attributes, steps
                        )
                    }
                },
            }
        )
    return rows


def write_jsonl(path: Path, rows: list[dict]) -> None:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        encoding="utf-8",
        newline="\n",
    )


def write_csv(path: Path, rows: list[dict]) -> None:
    """Lists become JSON text in their cell and null becomes an empty one, as spreadsheets would have it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {
                    key: json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
                    for key, value in row.items()
                }
            )


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    rows = answers("fernhollow")
    write_jsonl(folder / "answers.jsonl", rows)
    write_csv(folder / "answers_sample.csv", [row for row in rows if "expected" in row][:20])
    rows = traced("fernhollow agent")
    write_jsonl(folder / "traced.jsonl", rows)
    write_jsonl(folder / "traces.otlp.jsonl", requests(rows, "fernhollow traces"))


if __name__ == "__main__":
    main()
