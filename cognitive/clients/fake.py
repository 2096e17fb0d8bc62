"""An OpenAI-compatible service on a loopback port that misbehaves on command.

Tests start it in their own event loop; by hand: `python -m cognitive.clients.fake --port 8099`.
It answers `POST /v1/chat/completions` with the next behaviour of its script; a model named like a
behaviour (`hang`, `status:429`, `slow:2000`) gets that one, so a run can be pointed at any fault.
Without a fault it answers with the smallest object that fits the schema it was sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from worlds.api import Json

__all__ = ["BEHAVIOURS", "Behaviour", "FakeServer", "Received", "behaviour", "fitting", "main"]

NOISE = "".join(chr(33 + (7 * i * i + 13 * i) % 90) for i in range(10_000))
_EXAMPLE = re.compile(r"^Example: (\{.*\})$", re.MULTILINE)
_ORDERS = ("own", "assignments")
FLOOD_BYTES = 64_000_000
MAX_HEADER_BYTES = 65536
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


class Received(NamedTuple):
    """A request as the service saw it; `body` is its JSON, `headers` have lower-case names."""

    path: str
    headers: dict[str, str]
    body: dict[str, Json]


class Behaviour(NamedTuple):
    """What is done with one request.

    status: of the answer. content: of the message, or a function of the request. body: sent as it
    is in place of a completion. delay_s: before the answer; `inf` hangs. finish: why it ended.
    retry_after: header, in seconds. is_reset: the connection is cut. refuses: parameters that are
    answered with status 400. ignores_limit: more tokens are reported than were allowed.
    """

    status: int = 200
    content: Json | Callable[[Received], Json] = None
    body: str | None = None
    delay_s: float = 0.0
    finish: str = "stop"
    retry_after: float | None = None
    is_reset: bool = False
    is_flood: bool = False
    refuses: tuple[str, ...] = ()
    ignores_limit: bool = False
    message: Json = None
    usage: Json = None


def fitting(received: Received) -> str:
    """The smallest object that fits the schema of the request; without one, the example in it.

    Orders are those of the example, since a leader who names nobody gives none.
    """
    texts = (message["content"] for message in received.body.get("messages", ()))
    found = next(filter(None, map(_EXAMPLE.search, texts)), None)
    example = {} if found is None else json.loads(found[1])
    schema = (received.body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if schema is None:
        return json.dumps(example)
    kept = {name: example[name] for name in _ORDERS if "assignments" in example}
    return json.dumps(_instance(schema) | kept)


def _instance(schema: Json) -> Json:
    if "anyOf" in schema:
        branches = schema["anyOf"]
        return _instance(next((b for b in branches if _is_easy(b)), branches[0]))
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: _instance(part) for name, part in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [_instance(schema["items"])] if schema["items"].get("anyOf") else []
    return {"string": "none", "integer": 1, "boolean": True, "number": 1, "null": None}[
        schema["type"]
    ]


def _is_easy(branch: Json) -> bool:
    """Null, or the verb that every world has."""
    verb = branch.get("properties", {}).get("verb", {})
    return branch.get("type") == "null" or bool(verb.get("enum") == ["wait"])


_THOUGHT = "<think>first I look around, {maybe}</think>\n"
_FORMAT_ERROR = {"error": {"message": "unknown field response_format", "code": 400}}
_HTML = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"

BEHAVIOURS: dict[str, Behaviour] = {
    "ok": Behaviour(content=fitting),
    "hang": Behaviour(delay_s=float("inf")),
    "slow": Behaviour(content=fitting, delay_s=2.0),
    "reset": Behaviour(is_reset=True),
    "html": Behaviour(body=_HTML),
    "empty_body": Behaviour(body=""),
    "choices_null": Behaviour(body='{"id": "x", "object": "chat.completion", "choices": null}'),
    "choices_empty": Behaviour(body='{"id": "x", "object": "chat.completion", "choices": []}'),
    "content_null": Behaviour(content=None),
    "reasoning_only": Behaviour(message={"content": None, "reasoning_content": '{"a": 1} hm'}),
    "refusal": Behaviour(message={"content": None, "refusal": "I cannot help with that."}),
    "filtered": Behaviour(content="", finish="content_filter"),
    "cut": Behaviour(content='{"thought": "I will go to the bl', finish="length"),
    "prose": Behaviour(content="I think we should push the block together."),
    "fenced": Behaviour(content=lambda got: f"Here you are:\n```json\n{fitting(got)}\n```\nDone."),
    "thinking": Behaviour(content=lambda got: _THOUGHT + fitting(got)),
    "open_thinking": Behaviour(content="<think>first I look around and then"),
    "wrong_schema": Behaviour(content='{"action": "push", "confidence": 0.9}'),
    "empty": Behaviour(content=""),
    "blank": Behaviour(content=" \n\t \n"),
    "echo": Behaviour(content=lambda got: got.body["messages"][-1]["content"]),
    "leak": Behaviour(content=lambda got: f'{{"key": "{got.headers.get("authorization")}"}}'),
    "noise": Behaviour(content=NOISE),
    "flood": Behaviour(is_flood=True),
    "error_flood": Behaviour(status=500, is_flood=True),
    "refusal_flood": Behaviour(status=400, is_flood=True),
    "long": Behaviour(content="{" * 1_000_000),
    "no_format": Behaviour(content=fitting, refuses=("response_format",)),
    "no_schema": Behaviour(content=fitting, refuses=("json_schema",)),
    "old_limit": Behaviour(content=fitting, refuses=("max_completion_tokens",)),
    "new_limit": Behaviour(content=fitting, refuses=("max_tokens",)),
    "no_temperature": Behaviour(content=fitting, refuses=("temperature", "seed")),
    "no_limit": Behaviour(content=fitting, ignores_limit=True),
    "error_in_200": Behaviour(body='{"error": {"message": "no provider", "code": 429}}'),
    "context": Behaviour(status=400, body=json.dumps({"error": {
        "message": "This model's maximum context length is 4096 tokens", "code": "context_length"
    }})),
    "no_usage": Behaviour(content=fitting, usage={}),
}  # fmt: skip


def behaviour(name: str) -> Behaviour:
    """The behaviour of that name; `slow:MS`, `status:CODE` and `status:CODE:SECONDS` have numbers.

    A `status` answers with that code and, if given, a Retry-After. Raises KeyError.
    """
    word, *numbers = name.split(":")
    if word == "slow" and numbers:
        return BEHAVIOURS["slow"]._replace(delay_s=int(numbers[0]) / 1000)
    if word == "status":
        after = float(numbers[1]) if len(numbers) > 1 else None
        return Behaviour(status=int(numbers[0]), retry_after=after)
    return BEHAVIOURS[word]


Script = Iterable[str | Behaviour] | Callable[[Received], str | Behaviour]


@dataclass
class FakeServer:
    """The service. `received` keeps the requests, `disconnects` counts callers that went away.

    script: behaviours, one per request; when they are used up, `otherwise`. `peak` is the most
    requests ever open together.
    """

    script: Script = ()
    otherwise: str | Behaviour = "ok"
    received: list[Received] = field(default_factory=list)
    disconnects: int = 0
    peak: int = 0
    _open: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> FakeServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1; port 0 takes a free one."""
        if not callable(self.script):
            moves = iter(self.script)
            self.script = lambda received: next(moves, self.otherwise)
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", port, limit=MAX_HEADER_BYTES
        )

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def base_url(self) -> str:
        """The address that clients are given."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._answer_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection goes on."""
        received = await _read_request(reader)
        self.received.append(received)
        self._open += 1
        self.peak = max(self.peak, self._open)
        try:
            chosen = self._choose(received)
            if not await self._wait(chosen.delay_s, reader):
                return False
            return await _write_answer(chosen, received, writer)
        finally:
            self._open -= 1

    def _choose(self, received: Received) -> Behaviour:
        if not received.path.endswith("/chat/completions"):
            return Behaviour(body=json.dumps({"object": "list", "data": [{"id": "ok"}]}))
        assert callable(self.script)
        name = str(received.body.get("model", ""))
        word = name.partition(":")[0]
        chosen = name if word in (*BEHAVIOURS, "status") else self.script(received)
        return behaviour(chosen) if isinstance(chosen, str) else chosen

    async def _wait(self, delay_s: float, reader: asyncio.StreamReader) -> bool:
        """Wait before the answer; False if the caller goes away meanwhile."""
        if delay_s == 0.0:
            return True
        timeout = None if delay_s == float("inf") else delay_s
        try:
            async with asyncio.timeout(timeout):
                await reader.read(1)
        except TimeoutError:
            return True
        self.disconnects += 1
        return False


async def _read_request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *rest = head.strip().split("\r\n")
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in rest)}
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(first.split(" ")[1].partition("?")[0], headers, json.loads(data or b"{}"))


async def _write_answer(
    chosen: Behaviour, received: Received, writer: asyncio.StreamWriter
) -> bool:
    if chosen.is_reset:
        writer.transport.abort()
        return False
    if chosen.is_flood:
        return await _flood(chosen.status, writer)
    status, body = _answer(chosen, received)
    data = body.encode()
    after = "" if chosen.retry_after is None else f"Retry-After: {chosen.retry_after:g}\r\n"
    kind = "application/json" if body.startswith("{") else "text/html"
    head = (
        f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\nContent-Type: {kind}\r\n"
        f"{after}Content-Length: {len(data)}\r\n\r\n"
    )
    writer.write(head.encode() + data)
    await writer.drain()
    return True


async def _flood(status: int, writer: asyncio.StreamWriter) -> bool:
    head = (
        f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {FLOOD_BYTES}\r\n\r\n"
    )
    writer.write(head.encode() + b'{"choices": "')
    piece = b"x" * 65536
    for _ in range(FLOOD_BYTES // len(piece)):
        writer.write(piece)
        await writer.drain()
    return False


def _answer(chosen: Behaviour, received: Received) -> tuple[int, str]:
    refused = [name for name in chosen.refuses if _is_sent(name, received.body)]
    if refused:
        text = f"Unsupported parameter: '{refused[0]}' is not supported by this model."
        return 400, json.dumps({"error": {"message": text, "param": refused[0]}})
    if chosen.body is not None:
        return chosen.status, chosen.body
    if chosen.status != 200:
        text = f"the fake answers with {chosen.status}"
        return chosen.status, json.dumps({"error": {"message": text, "code": chosen.status}})
    return 200, json.dumps(_completion(chosen, received))


def _is_sent(name: str, body: dict[str, Json]) -> bool:
    return name in body or name == (body.get("response_format") or {}).get("type")


def _completion(chosen: Behaviour, received: Received) -> Json:
    content = chosen.content(received) if callable(chosen.content) else chosen.content
    message = {"role": "assistant", "content": content} | (chosen.message or {})
    limit = received.body.get("max_completion_tokens") or received.body.get("max_tokens") or 0
    asked = sum(len(message["content"]) for message in received.body["messages"]) // 4
    spent = 2 * limit if chosen.ignores_limit else len(content or "") // 4 + 1
    usage = {"prompt_tokens": asked, "completion_tokens": spent, "total_tokens": asked + spent}
    return {
        "id": "fake",
        "object": "chat.completion",
        "created": 0,
        "model": received.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": chosen.finish}],
        "usage": usage if chosen.usage is None else chosen.usage,
    }


# --- by hand -------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m cognitive.clients.fake", description=__doc__)
    parser.add_argument("--port", type=int, default=8099, help="port on 127.0.0.1 [8099]")
    parser.add_argument(
        "--behave",
        action="append",
        default=[],
        metavar="NAME",
        help=f"behaviour of one request, repeatable; then `ok`: {', '.join(BEHAVIOURS)}, "
        "slow:MS, status:CODE, status:CODE:RETRY_AFTER",
    )
    parser.add_argument("--always", default="ok", metavar="NAME", help="behaviour after those")
    chosen = parser.parse_args(arguments)
    for name in (*chosen.behave, chosen.always):
        if name.partition(":")[0] not in (*BEHAVIOURS, "status"):
            parser.error(f'no behaviour "{name}"; behaviours: {", ".join(BEHAVIOURS)}')
    try:
        asyncio.run(_serve_forever(chosen.behave, chosen.always, chosen.port))
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")


async def _serve_forever(script: list[str], otherwise: str, port: int) -> None:
    server = FakeServer(script, otherwise)
    await server.start(port)
    sys.stderr.write(f"fake endpoint at {server.base_url} (a model's name may name a behaviour)\n")
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()


if __name__ == "__main__":
    main()
