"""Runs something that may crash where it cannot hurt: an isolated process with a deadline, caps and one answer.

The child leads its own session, so that it and all it started can be killed together. It says hello on a pipe of its
own, then writes its answer there as one line of JSON (`probe.child` is the other end). Whatever else happens (death by
a signal, silence, garbage, no end, too much output) has a name: nothing here raises because of what a child does.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ddtree_doctor.probe.child import ANSWER_FD, HELLO, PROGRESS

__all__ = ["KINDS", "Limits", "Outcome", "Progress", "run"]

Progress = Callable[[str, int, int], None]
"""Called with what is next, how many steps are done, and how many there are."""

KINDS = ("ok", "failed", "killed", "silence", "garbage", "timeout", "exit", "output", "disk", "spawn")
"""How a probe may end: `failed` is an answer in which the child itself says why it has none."""

_TICK = 0.05
_ANSWER_CAP = 64 << 20
_TAIL = 16 << 10
_LAST_READS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a child may use. Times in seconds, sizes in bytes.

    `deadline` is for the whole run, `start` for the hello, `grace` between SIGTERM and SIGKILL. `output` caps standard
    output and standard error together, `disk` the child's own folder.
    """

    deadline: float = 60.0
    start: float = 30.0
    grace: float = 2.0
    output: int = 8 << 20
    disk: int = 512 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a child ended: `kind` is one of KINDS, `why` says it in words, `answer` is what it answered if `ok`.

    `log` is the end of its standard output and error, for a person; `code` the exit status, negative for a signal.
    """

    kind: str
    why: str = ""
    answer: Any = None
    log: str = ""
    code: int | None = None
    seconds: float = 0.0

    @property
    def reason(self) -> str:
        """`why`, with the last line that the child printed where that says more than it knew itself."""
        last = next((line.strip() for line in reversed(self.log.splitlines()) if line.strip()), "")
        told = last and self.kind not in ("failed", "timeout")
        return f"{self.why} (last line: {last[:300]})" if told else self.why


def run(
    argv: Sequence[str],
    job: Any = None,
    *,
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run `argv` with `job` as one line of JSON on its standard input and wait for its answer.

    The child's working folder and TMPDIR is an empty folder that is removed with it. `env` is added to this
    process's environment. `progress` is called for each step that the child tells of (`child.progress`).
    """
    limits = limits or Limits()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ddtree-doctor-", ignore_cleanup_errors=True) as folder:
        try:
            child = _Child(argv, json.dumps(job), Path(folder), env or {}, progress or (lambda *_: None))
        except OSError as error:
            return Outcome(kind="spawn", why=f"could not start {argv[0]}: {error}")
        with child:
            kind, why, answer = child.watch(limits)
    return Outcome(
        kind=kind, why=why, answer=answer, log=child.log(), code=child.code, seconds=time.monotonic() - began
    )


class _Child:
    """A started process with its pipes. Leaving the context ends its whole session."""

    def __init__(self, argv: Sequence[str], job: str, folder: Path, env: Mapping[str, str], progress: Progress) -> None:
        self.folder = folder
        self._progress = progress
        self.code: int | None = None
        self._grace = 0.0
        self._answer, self._log = bytearray(), bytearray()
        self._logged = 0
        reader, writer = os.pipe()
        with contextlib.ExitStack() as undo:
            undo.callback(os.close, writer)
            fail = undo.enter_context(contextlib.ExitStack())
            fail.callback(os.close, reader)
            stdin = undo.enter_context(tempfile.TemporaryFile(dir=folder))
            stdin.write(job.encode() + b"\n")
            stdin.seek(0)
            self._process = subprocess.Popen(
                argv,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, "TMPDIR": str(folder), **env, ANSWER_FD: str(writer)},
                pass_fds=(writer,),
                start_new_session=True,
            )
            fail.pop_all()
        self._pipes = selectors.DefaultSelector()
        for pipe, sink in ((reader, self._answer), (self._stdout.fileno(), self._log)):
            os.set_blocking(pipe, False)
            self._pipes.register(pipe, selectors.EVENT_READ, sink)
        self._reader = reader

    @property
    def _stdout(self) -> IO[bytes]:
        stdout = self._process.stdout
        assert stdout is not None
        return stdout

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._pipes.close()
        self._stdout.close()
        os.close(self._reader)

    def watch(self, limits: Limits) -> tuple[str, str, Any]:
        """Kind, words and answer once the child has ended, or has been ended for breaking a limit."""
        self._grace = limits.grace
        began = time.monotonic()
        while not self._ended():
            self._drain(_TICK)
            if broken := self._broken(limits, time.monotonic() - began):
                return (*broken, None)
        self._end()
        self._empty()
        if beyond := self._broken(limits, 0.0):
            return (*beyond, None)
        return self._verdict()

    def log(self) -> str:
        """The end of what the child printed."""
        return bytes(self._log).decode(errors="replace")

    def _broken(self, limits: Limits, elapsed: float) -> tuple[str, str] | None:
        """The first limit that the child is beyond."""
        for beyond, kind, why in (
            (self._logged > limits.output, "output", f"printed more than {limits.output} bytes"),
            (len(self._answer) > _ANSWER_CAP, "output", f"answered with more than {_ANSWER_CAP} bytes"),
            (elapsed > limits.deadline, "timeout", f"timed out after {limits.deadline:g} s"),
            (elapsed > limits.start and not self._answer, "timeout", f"did not start within {limits.start:g} s"),
        ):
            if beyond:
                return kind, why
        if (used := sum(_sizes(self.folder))) > limits.disk:
            return "disk", f"wrote {used} bytes to disk; {limits.disk} are allowed"
        return None

    def _empty(self) -> None:
        """Read what is left in the pipes. Bounded: something that left the session may still hold and fill them."""
        for _ in range(_LAST_READS):
            if not self._drain(0):
                return

    def _drain(self, timeout: float) -> bool:
        """Read once from each pipe that has something within `timeout`; whether any had."""
        ready = self._pipes.select(timeout)
        for key, _ in ready:
            try:
                chunk = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if not chunk:
                self._pipes.unregister(key.fd)
                continue
            key.data.extend(chunk)
            if key.data is self._log:
                self._logged += len(chunk)
                del self._log[:-_TAIL]
            else:
                self._take_progress()
        if timeout and not self._pipes.get_map():
            time.sleep(timeout)
        return bool(ready)

    def _take_progress(self) -> None:
        """Take out the lines that tell of a step, each once it is whole; one that is no such line stays."""
        while (start := self._answer.find(b"\n" + PROGRESS)) >= 0 and (end := self._answer.find(b"\n", start + 1)) >= 0:
            step = _step(bytes(self._answer[start + 1 : end]))
            if step is None:
                return
            del self._answer[start:end]
            self._progress(*step)

    def _ended(self) -> bool:
        """Whether the leader has ended. It stays a zombie, so that its id and group id remain its own."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return self.code is not None or os.waitid(os.P_PID, self._process.pid, flags) is not None

    def _end(self) -> None:
        """End the whole group: SIGTERM and SIGKILL while its leader lives, SIGKILL for what it left behind."""
        if self.code is not None:
            return
        if not self._ended():
            self._signal(signal.SIGTERM)
            until = time.monotonic() + self._grace
            while not self._ended() and time.monotonic() < until:
                self._drain(_TICK)
        self._signal(signal.SIGKILL)
        self.code = self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _verdict(self) -> tuple[str, str, Any]:
        """What an ended child's exit status and answer come down to."""
        code = self.code or 0
        lines = bytes(self._answer).splitlines()
        if code < 0:
            return "killed", f"killed by {_name(-code)}", None
        if len(lines) < 2:
            if code:
                return "exit", f"exited with status {code} without an answer", None
            return "silence", "ended without an answer", None
        return _read(lines)


def _step(line: bytes) -> tuple[str, int, int] | None:
    """What a line says of a step, None where it says nothing of the kind."""
    try:
        what, done, of = json.loads(line)["progress"]
    except (ValueError, TypeError, RecursionError):
        return None
    return (what, done, of) if isinstance(what, str) and type(done) is type(of) is int else None


def _read(lines: list[bytes]) -> tuple[str, str, Any]:
    """The verdict on an answer's lines: a hello, then exactly one object."""
    try:
        hello, answer = (json.loads(line) for line in lines)
    except (ValueError, RecursionError):
        return "garbage", "answered with something that is not one line of JSON", None
    if hello != HELLO or not isinstance(answer, dict) or not {"answer", "failed"} & set(answer):
        return "garbage", "answered with something that is no answer", None
    if "failed" in answer:
        return "failed", str(answer["failed"]), None
    return "ok", "", answer["answer"]


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _sizes(folder: Path) -> Iterator[int]:
    """Sizes in bytes of all files under `folder`; those that vanish meanwhile do not count."""
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                yield os.lstat(os.path.join(root, name)).st_blocks * 512


def module(name: str) -> list[str]:
    """The command that runs module `name` under this interpreter."""
    return [sys.executable, "-m", name]
