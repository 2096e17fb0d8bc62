"""A headless Chromium driven over its debugging pipe: enough to open a page and look at it."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WAIT = 30.0
# The browser reads commands from descriptor 3 and answers on 4.
LAUNCH = (
    "import os, sys\n"
    "spare = [os.dup(0) for _ in range(6)]\n"
    "ends = [os.dup(int(end)) for end in sys.argv[1:3]]\n"
    "os.dup2(ends[0], 3), os.dup2(ends[1], 4)\n"
    "os.execv(sys.argv[3], sys.argv[3:])\n"
)


def find_browser() -> str | None:
    """The path of an installed Chromium."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab. problems: console errors and exceptions. requests: all that was asked for."""

    def __init__(self, path: str, profile: Path, width: int = 1280, height: int = 800) -> None:
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        options = (
            "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
            "--disable-background-networking --disable-component-update --disable-sync "
            f"--remote-debugging-pipe --user-data-dir={profile} about:blank"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(to_read), str(to_write), path, *options.split()],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._count = 0
        self._buffer = b""
        self._session: str | None = None
        self.problems: list[str] = []
        self.requests: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def call(self, method: str, **params: Any) -> Any:
        """A command of the DevTools protocol; its result."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + WAIT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser is gone"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(json.dumps(params["args"])[:2000])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"][:200])

    def open(self, path: Path) -> float:
        """Open a file; the seconds until the page says it is ready (or fails)."""
        began = time.monotonic()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while time.monotonic() - began < WAIT:
            if self.run("document.documentElement?.dataset.state") in ("ready", "failed"):
                return time.monotonic() - began
            time.sleep(0.02)
        raise AssertionError(f"the page is not ready after {WAIT} s: {self.problems}")

    def run(self, script: str) -> Any:
        """The value of a piece of JavaScript."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, shift: bool = False) -> None:
        """A key goes down and up again."""
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                text=text if kind == "keyDown" else "",
                modifiers=8 if shift else 0,
            )

    def click(self, x: float, y: float) -> None:
        """A click of the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, x: float, y: float) -> None:
        """The mouse moves there."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def resize(self, width: int, height: int, ratio: float = 1) -> None:
        """Another size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=ratio,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        """`light` or `dark`, as the system would say."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def shot(self, path: Path) -> Path:
        """A picture of the page."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
        return path

    def close(self) -> None:
        """End the browser."""
        try:
            self._session = None
            self.call("Browser.close")
        except (AssertionError, OSError):
            self._process.kill()
        self._process.wait(10)
        os.close(self._read)
        os.close(self._write)
