"""The planner that asks a language model: prompts over a client."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel

from cognitive.budget import Metered, Quote
from cognitive.clients.answers import answer_of
from cognitive.clients.base import Client, Completion, Request
from cognitive.clients.budgeted import request_quote
from cognitive.clients.profile import EndpointProfile
from cognitive.errors import ClientError, RunStopped
from cognitive.prompts.build import MAX_OUTPUT, PromptBuilder, prompt_hash
from cognitive.protocols import Answer, Latency, Question, Usage
from cognitive.schemas import strict_schema
from worlds.api import Json

__all__ = ["LlmPlanner"]

DEFAULT_OUTPUT_TOKENS = 2048
TOKENS = Latency("tokens")


class LlmPlanner(Metered):
    """Answers questions with the replies of a model.

    Nothing is kept between decisions but the prompt of a question that was quoted for.

    prompts: filled for every question; shortened for a profile of size `small`.
    max_output_tokens: of a reply to a kind that is not one of the decision kinds. output_cap: most
    tokens of any reply, for small models; None for none. A
    reply that was cut is asked for again with twice the room.
    """

    name = "llm"

    def __init__(
        self,
        client: Client,
        profile: EndpointProfile,
        prompts: PromptBuilder,
        latency: Latency = TOKENS,
        max_output_tokens: int = DEFAULT_OUTPUT_TOKENS,
        output_cap: int | None = None,
    ) -> None:
        self.latency = latency
        self._client = client
        self._profile = profile
        self._is_small = profile.size == "small"
        self._prompts = prompts.short() if self._is_small else prompts
        self._max_output_tokens = max_output_tokens
        self._output_cap = output_cap
        self._quoted: dict[str, tuple[Question, Request]] = {}

    def quote(self, question: Question) -> Quote:
        """Hash and length of the prompt, and the most that the try may use."""
        request = self.request(question)
        self._quoted[question.scope] = (question, request)
        return request_quote(request, self._profile, prompt_hash(request.messages))

    def bill(self, usage: Usage) -> int:
        """The price of tokens in use, in millionths."""
        return self._profile.money(usage)

    async def answer(self, question: Question) -> Answer:
        """One try."""
        quoted, request = self._quoted.pop(question.scope, (None, None))
        if request is None or quoted is not question:
            request = self.request(question)
        outcome: Completion | ClientError
        try:
            outcome = await self._client.complete(request, question.scope)
        except RunStopped:
            raise
        except ClientError as error:
            outcome = error
        return answer_of(outcome, self._profile)

    async def close(self) -> None:
        """The client belongs to whoever opened it."""

    def request(self, question: Question) -> Request:
        """What is sent for a question. Raises PromptTooLong and ConfigError."""
        messages = self._prompts.messages(question)
        schema = question.ask.schema
        return Request(
            self._profile.model,
            messages,
            None if schema is None else _sent_schema(schema, self._is_small),
            self._profile.temperature,
            self._room(question),
            self._profile.seed,
        )

    def _room(self, question: Question) -> int:
        room = MAX_OUTPUT.get(question.ask.kind, self._max_output_tokens)
        room = room if self._output_cap is None else min(room, self._output_cap)
        codes = (found["code"] for entry in question.tries for found in entry["findings"])
        return 2 * room if "truncated" in codes else room


@lru_cache(maxsize=256)
def _sent_schema(model: type[BaseModel], is_short: bool) -> Json:
    return strict_schema(model, is_short)
