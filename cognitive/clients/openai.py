"""Requests to any OpenAI-compatible service, one at a time, through the `openai` package.

What a service really takes is learnt from its refusals and remembered for the run: the level of
structured output, the name of the output limit, whether it takes a temperature and a seed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from importlib import import_module
from math import ceil
from time import perf_counter
from typing import Any, TypeGuard

from cognitive.clients.base import Completion, Request, estimated_usage
from cognitive.clients.profile import EndpointProfile
from cognitive.clients.refusals import (
    connection_error,
    format_error,
    is_context_error,
    status_error,
)
from cognitive.clients.secrets import Secret, scrub, without_key
from cognitive.errors import (
    ClientError,
    ClientRefused,
    ClientTimeout,
    MissingPrerequisite,
)
from cognitive.protocols import Usage
from worlds.api import Json

__all__ = ["OpenAIClient"]

MAX_BODY_BYTES = 2_000_000
MAX_TEXT = 65536
_PLAIN = {"Accept-Encoding": "identity"}
"""No compression: a short body stays short."""
_NEXT_LEVEL = {"json_schema": "json_object", "json_object": "text"}
_OTHER_PARAMETER = {
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_completion_tokens",
}
_FORMAT_STATUSES = frozenset({400, 404, 415, 422})
_PARAMETER_STATUSES = frozenset({400, 422})
_FORMAT_WORDS = ("response_format", "json_schema", "schema")


@dataclass
class _Manner:
    """How a model of the endpoint is asked, as far as that is known."""

    level: str
    token_parameter: str
    sends_temperature: bool = True
    sends_seed: bool = True
    tried: set[str] = field(default_factory=set)
    is_known: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class OpenAIClient:
    """One endpoint. Raises MissingPrerequisite without the `openai` package."""

    def __init__(self, profile: EndpointProfile, key: Secret | None) -> None:
        self._package = _openai()
        self._profile = profile
        self._key = key
        self._manners: dict[str, _Manner] = {}
        self._library = _transport(self._package)
        self._lost: type[Exception] = self._library.HTTPError
        self._client = self._open()

    def _open(self) -> Any:
        profile = self._profile
        key = self._key.reveal() if self._key else "none"
        timeout = self._package.Timeout(profile.attempt_s, connect=profile.connect_s)
        hooks = {"response": [_cut_off(self._library)]}
        http = self._package.DefaultAsyncHttpxClient(timeout=timeout, event_hooks=hooks)
        if profile.service == "azure":
            return self._package.AsyncAzureOpenAI(
                azure_endpoint=profile.base_url,
                azure_deployment=profile.azure_deployment or profile.model,
                api_version=profile.api_version,
                api_key=key,
                timeout=timeout,
                max_retries=0,
                default_headers=_PLAIN,
                http_client=http,
            )
        return self._package.AsyncOpenAI(
            base_url=profile.base_url or None,
            api_key=key,
            timeout=timeout,
            max_retries=0,
            default_headers=_PLAIN,
            http_client=http,
        )

    async def attempt(self, request: Request, scope: str, limit_s: float) -> Completion:
        """Send one request; the first one to a model goes alone until its level is known."""
        manner = self._manner(request.model)
        if manner.is_known:
            return await self._send(request, manner, limit_s)
        async with manner.lock:
            if not manner.is_known:
                return await self._send_first(request, manner, limit_s)
        return await self._send(request, manner, limit_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _manner(self, model: str) -> _Manner:
        if model not in self._manners:
            profile = self._profile
            self._manners[model] = _Manner(profile.schema_level, profile.token_parameter)
        return self._manners[model]

    async def _send_first(self, request: Request, manner: _Manner, limit_s: float) -> Completion:
        try:
            completion = await self._send(request, manner, limit_s)
        except ClientError as error:
            manner.is_known = error.retry != "now"
            raise
        manner.is_known = True
        return completion

    async def _send(self, request: Request, manner: _Manner, limit_s: float) -> Completion:
        started = perf_counter()
        arguments = self._arguments(request, manner)
        try:
            try:
                async with asyncio.timeout(limit_s):
                    body = await self._post(arguments)
                completion = self._completion(body, request, _level_of(arguments))
            except (TimeoutError, self._package.APITimeoutError):
                text = f"{self._profile.label}: no answer within {limit_s:.3g} s"
                raise ClientTimeout(text, "timeout", retry="later") from None
            except self._package.APIStatusError as error:
                raise self._refused(error, arguments, manner) from None
            except (self._package.APIConnectionError, self._lost) as error:
                reason = error.__cause__ or error
                text = scrub(f"{type(reason).__name__}: {reason}", self._key)
                raise connection_error(self._profile.label, text) from None
        except ClientError as error:
            error.measured_ms = _ms_since(started)
            raise
        self._learn_from(completion, request, arguments, manner)
        return completion._replace(measured_ms=_ms_since(started))

    def _arguments(self, request: Request, manner: _Manner) -> dict[str, Json]:
        arguments: dict[str, Json] = {
            "model": request.model,
            "messages": list(request.messages),
            manner.token_parameter: request.max_output_tokens,
        }
        if request.schema is not None:
            arguments |= _response_format(manner.level, request.schema)
        if request.temperature is not None and manner.sends_temperature:
            arguments["temperature"] = request.temperature
        if request.seed is not None and manner.sends_seed:
            arguments["seed"] = request.seed
        return arguments

    async def _post(self, arguments: dict[str, Json]) -> bytes:
        """The body of the answer, no longer than what `_cut_off` lets through.

        Sent as it is: `chat.completions.create` walks through every argument, the whole schema
        too, and spends more time on that than everything else together.
        """
        body = {**arguments, **self._profile.extra_body}
        answer = await self._client.post(
            "/chat/completions", body=body, cast_to=self._library.Response
        )
        data: bytes = answer.content
        if len(data) > MAX_BODY_BYTES:
            text = f"the answer passed {MAX_BODY_BYTES} bytes and was cut off"
            raise format_error(self._profile.label, "flood", text)
        return data

    # --- what came back ---------------------------------------------------------------------

    def _completion(self, body: bytes, request: Request, level: str) -> Completion:
        answer = self._answer(body)
        choices = answer.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            shown = scrub(json.dumps(choices)[:80], self._key)
            raise format_error(self._profile.label, "no_choices", f"choices is {shown}")
        message = choices[0].get("message")
        if not isinstance(message, dict):
            raise format_error(self._profile.label, "no_message", "the choice holds no message")
        text = without_key(_text_of(message), self._key)
        usage = _usage(answer.get("usage")) or estimated_usage(request, text)
        finish = _string(choices[0].get("finish_reason"))
        self._raise_if_refused(message, finish, usage, text)
        return Completion(text, finish, usage, 1, 0, level, request.model)

    def _answer(self, body: bytes) -> dict[str, Json]:
        label, shown = self._profile.label, scrub(_shown(body), self._key)
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            cause = "html" if shown.lstrip().startswith("<") else "no_json_body"
            text = f"the answer is no JSON: {shown}" if body.strip() else "the answer is empty"
            raise format_error(label, cause, text) from None
        if not isinstance(answer, dict):
            raise format_error(label, "no_object", f"the answer is no object: {shown}")
        if "choices" not in answer and isinstance(answer.get("error"), dict):
            code = answer["error"].get("code")
            status = code if isinstance(code, int) else 500
            raise status_error(label, status, shown, None)
        return answer

    def _raise_if_refused(self, message: Json, finish: str, usage: Usage, text: str) -> None:
        refusal = _string(message.get("refusal"))
        if not refusal and finish != "content_filter":
            return
        cause = "refusal" if refusal else "content_filter"
        said = scrub(refusal, self._key)[:300] or "its content filter stopped the answer"
        tokens = (usage.prompt, usage.completion)
        raise ClientRefused(f"{self._profile.label}: {said}", cause, tokens=tokens, text=text)

    def _refused(self, error: Any, arguments: dict[str, Json], manner: _Manner) -> ClientError:
        status = error.status_code
        text = scrub(_shown(error.response.content), self._key)
        reported = status_error(
            self._profile.label, status, text, error.response.headers.get("retry-after")
        )
        if not is_context_error(text) and _step_down(status, text.lower(), arguments, manner):
            reported.retry = "now"
            reported.cause = "stepped_down"
        return reported

    def _learn_from(
        self, completion: Completion, request: Request, sent: dict[str, Json], manner: _Manner
    ) -> None:
        """A service that passed the output limit does not know its name: use the other one."""
        is_over = completion.usage.completion > request.max_output_tokens
        if is_over and not completion.usage.estimated:
            _other_parameter(sent, manner)


# --- learning what the service takes -------------------------------------------------------------


def _step_down(status: int, text: str, sent: dict[str, Json], manner: _Manner) -> bool:
    """Whether something the service named was left out or replaced, so that asking again helps."""
    if status in _PARAMETER_STATUSES:
        if "temperature" in sent and re.search(r"\btemperature\b", text):
            manner.sends_temperature = False
            return True
        if "seed" in sent and re.search(r"\bseed\b", text):
            manner.sends_seed = False
            return True
        if any(re.search(rf"\b{name}\b", text) for name in _OTHER_PARAMETER if name in sent):
            return _other_parameter(sent, manner)
    if status in _FORMAT_STATUSES and any(word in text for word in _FORMAT_WORDS):
        return _lower_level(sent, manner)
    return False


def _lower_level(sent: dict[str, Json], manner: _Manner) -> bool:
    level = _level_of(sent)
    if manner.level == level and level in _NEXT_LEVEL:
        manner.level = _NEXT_LEVEL[level]
    return level in _NEXT_LEVEL


def _other_parameter(sent: dict[str, Json], manner: _Manner) -> bool:
    name = next(name for name in _OTHER_PARAMETER if name in sent)
    if manner.token_parameter != name:
        return True
    manner.tried.add(name)
    if _OTHER_PARAMETER[name] in manner.tried:
        return False
    manner.token_parameter = _OTHER_PARAMETER[name]
    return True


def _response_format(level: str, schema: Json) -> dict[str, Json]:
    if level == "json_schema":
        named = {"name": "reply", "strict": True, "schema": schema}
        return {"response_format": {"type": level, "json_schema": named}}
    return {"response_format": {"type": level}} if level == "json_object" else {}


def _level_of(sent: dict[str, Json]) -> str:
    return str(sent.get("response_format", {"type": "text"})["type"])


# --- reading -------------------------------------------------------------------------------------


def _text_of(message: dict[str, Json]) -> str:
    """The content as text; thinking that came without content stays marked as thinking."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    thinking = _string(message.get("reasoning_content")) or _string(message.get("reasoning"))
    text = _string(content)
    if not text and thinking:
        text = f"<think>{thinking[:MAX_TEXT]}</think>"
    return text[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")


def _usage(reported: Json) -> Usage | None:
    if not isinstance(reported, dict):
        return None
    prompt, completion = reported.get("prompt_tokens"), reported.get("completion_tokens")
    if not _is_count(prompt) or not _is_count(completion):
        return None
    return Usage(prompt, completion, prompt + completion, False)


def _is_count(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _shown(body: bytes) -> str:
    return body[:600].decode("utf-8", "replace")


def _ms_since(started: float) -> int:
    return ceil((perf_counter() - started) * 1000)


def _openai() -> Any:
    try:
        return import_module("openai")
    except ImportError:
        raise MissingPrerequisite(
            "a model client needs the openai package: pip install 'cooplab[llm]'"
        ) from None


def _transport(package: Any) -> Any:
    """The HTTP library below the package, whichever it is."""
    return import_module(package.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])


def _cut_off(library: Any) -> Callable[[Any], Awaitable[None]]:
    """A hook that ends the body of any answer, that of an error too, past MAX_BODY_BYTES."""

    # The library is imported late, so its class is Any here.
    class Cut(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, whole: Any) -> None:
            self._whole = whole

        async def __aiter__(self) -> AsyncIterator[bytes]:
            taken = 0
            async for piece in self._whole:
                taken += len(piece)
                yield piece
                if taken > MAX_BODY_BYTES:
                    return

        async def aclose(self) -> None:
            await self._whole.aclose()

    async def hook(response: Any) -> None:
        response.stream = Cut(response.stream)

    return hook
