"""A client for those who ask without the episode loop: each answer is reserved, then settled."""

from __future__ import annotations

from cognitive.budget import Ledger, Quote
from cognitive.clients.base import Client, Completion, Request
from cognitive.clients.profile import EndpointProfile
from cognitive.errors import BudgetExceeded, ClientError
from cognitive.protocols import Usage

__all__ = ["Budgeted", "request_quote"]

BYTES_PER_TOKEN = 3


def request_quote(request: Request, profile: EndpointProfile, prompt_hash: str = "") -> Quote:
    """What a request may use at most: one call, its bytes over three, its longest answer."""
    texts = [message["content"] for message in request.messages]
    prompt = -(-sum(len(text.encode()) for text in texts) // BYTES_PER_TOKEN)
    longest = Usage(prompt, request.max_output_tokens, prompt + request.max_output_tokens)
    characters = sum(map(len, texts))
    return Quote(prompt_hash, characters, 1, longest.total, profile.money(longest))


class Budgeted:
    """Asks nothing that may not fit what is left. Raises BudgetExceeded."""

    def __init__(self, inner: Client, ledger: Ledger, profile: EndpointProfile) -> None:
        self._inner = inner
        self._ledger = ledger
        self._profile = profile

    async def complete(self, request: Request, scope: str) -> Completion:
        """Reserve, ask, and put down what was used, by failed answers too."""
        quotes = [request_quote(request, self._profile)]
        short = self._ledger.short_of(quotes)
        if short is not None:
            raise BudgetExceeded(f"{short}: the next call does not fit what is left")
        self._ledger.reserve(quotes)
        used = Usage()
        try:
            completion = await self._inner.complete(request, scope)
            used = completion.usage
        except ClientError as error:
            used = Usage(*error.tokens, sum(error.tokens))
            raise
        finally:
            self._ledger.settle(quotes, used.prompt + used.completion, self._profile.money(used))
        return completion

    async def close(self) -> None:
        """Close what is below."""
        await self._inner.close()
