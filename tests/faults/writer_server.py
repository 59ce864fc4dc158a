"""The stand-in for the language model behind a server of OpenAI's form on loopback, which can die in mid-answer.

    python -m tests.faults.writer_server PORT MODEL [ANSWERS]

It prints a line when it listens and one for each answer, and ends when its standard input ends. After so many ANSWERS
the next request kills it with SIGKILL: no answer that is under way ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from cares.llm.types import ChatMessage, ChatRequest
from tests.faults.clones import STAND_INS
from tests.llm.conftest import Reply, Served, answer, serving


def main() -> None:
    """Serve until standard input ends or the answers are used up."""
    sys.path.append(str(STAND_INS))
    from stand_in_writer import InstantWriter

    model, last = sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None
    writer = InstantWriter(model)

    def script(number: int, body: dict[str, Any]) -> Reply:
        if last is not None and number > last:
            os.kill(os.getpid(), signal.SIGKILL)
        (found,) = writer.complete([_request(body)])
        print(json.dumps({"number": number}), flush=True)
        return answer(found.text)

    state = Served()
    state.models, state.script = [model], script
    with serving(state, int(sys.argv[1])):
        print("listens", flush=True)
        sys.stdin.read()


def _request(body: dict[str, Any]) -> ChatRequest:
    form = body.get("response_format")
    return ChatRequest(
        messages=tuple(ChatMessage.model_validate(message) for message in body["messages"]),
        json_schema=form["json_schema"]["schema"] if form else None,
        **{name: body[name] for name in ("seed", "max_tokens", "temperature", "top_p")},
    )


if __name__ == "__main__":
    main()
