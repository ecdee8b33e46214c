"""Does a customer get through a conversation without asking for the same order twice?

For `--source conversations --previous-turns`, with `--map turns=conversation.turns`.
"""


def evaluate(turns):
    asked = [turn["input"] for turn in turns]
    again = len(asked) - len(set(asked))
    return {
        "score": int(again == 0),
        "explanation": f"{len(turns)} turns, {again} of them repeated",
    }
