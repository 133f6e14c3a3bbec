"""Runs the code of the documentation, and compares what it prints with what the pages say.

``python -m tests.docs.run_pages [--same] [--write] [PAGE ...]``; without pages, all of them. Every
page has a temporary folder and a process of its own; its blocks run in order and share their
variables. A block that fails, or that prints something else than its page says, ends with status 1.
Blocks with a comment ``may differ`` print lists of the worst examples, which are not the same on
every processor, or what the machine decides: there a difference is shown, and fails with ``--same``
only. ``--write`` puts what was printed into the pages. Times, sizes of memory and speeds may
differ, and numbers by two percent or one unit of the last digit; ``...`` in a page stands for
anything.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT, Block, blocks, name, pages

SECONDS = 300  # for one page
DIFFERS = 3  # exit status of a page that prints something else
DIFFERS_WHERE_IT_MAY = 4
#: Pages whose code is run by a test instead: between their blocks somebody works in another tool,
#: or they need an environment, data or minutes of their own.
RUN_BY_TESTS = {
    "docs/argilla.md": "tests/exchange/test_documentation.py",
    "docs/fiftyone.md": "tests/exchange/test_documentation.py",
    "docs/label_studio.md": "tests/exchange/test_documentation.py",
    "docs/mlflow.md": "tests/adapters/test_mlflow.py",
    "docs/scale.md": "tests/docs/test_scale_page.py",
    "docs/training.md": "tests/training/test_documentation.py",
}
_MEASURED = re.compile(
    r"(?:(?:about|<) )?\b[\d,.]+ ?(s|ms|min|h|days?|kB|MB|GB|TB|GFLOP/s|minutes?|hours?)\b"
)
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")


def same(expected: str, printed: str) -> bool:
    """Whether what was printed is what the page says."""
    return _same_lines(expected.strip().splitlines(), printed.strip().splitlines())


def _same_lines(expected: list[str], printed: list[str]) -> bool:
    if expected and expected[0].strip() == "...":
        return any(_same_lines(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    if not expected or not printed:
        return not expected and not printed
    return _same_line(expected[0], printed[0]) and _same_lines(expected[1:], printed[1:])


def _same_line(expected: str, printed: str) -> bool:
    texts = [_MEASURED.sub("#", line) for line in (expected, printed)]
    words = [" ".join(_NUMBER.sub("0", text).split()) for text in texts]
    if "..." in expected:
        pattern = ".*".join(re.escape(part) for part in words[0].split("..."))
        return re.fullmatch(pattern, words[1]) is not None
    numbers = [_NUMBER.findall(text) for text in texts]
    return words[0] == words[1] and all(map(_near, *numbers))


def _near(expected: str, printed: str) -> bool:
    a, b = (float(text.replace(",", "")) for text in (expected, printed))
    if "e" in expected:  # a probability near 0 or the like: its order of magnitude
        return abs(a - b) <= 0.2 * abs(a)
    unit = 10.0 ** -len(expected.partition(".")[2])
    return abs(a - b) <= max(1.01 * unit, 0.02 * abs(a))


class Runner:
    """Runs the blocks of one page, and collects what they print."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.started: list[subprocess.Popen[bytes]] = []

    def python(self, text: str, where: str, line: int) -> str:
        """What a block of Python prints."""
        code = compile("\n" * (line - 1) + text, where, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self.names)
        return printed.getvalue()

    def console(self, text: str) -> str:
        """A block of commands with what each of them prints below it."""
        lines = []
        for command in re.findall(r"^\$ (.*(?:\\\n.*)*)$", text, re.M):
            lines += [f"$ {command}", *self.command(command).splitlines()]
        return "\n".join(lines) + "\n"

    def command(self, text: str) -> str:
        """What a command prints; one that ends in & goes on until the page is done."""
        if text.endswith("&"):
            process = subprocess.Popen(
                text.rstrip(" &"),
                shell=True,
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self.started.append(process)
            return ""
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{text}: exit status {done.returncode}\n{done.stdout}")
        printed = done.stdout.replace(str(self.folder), "/home/you")
        return "\n".join(line.rstrip() for line in printed.splitlines())

    def stop(self) -> None:
        """End what was started with &."""
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def run_page(page: Path, write: bool) -> int:
    """Run the blocks of a page in this process; 0, or how what they print differs."""
    text, changes = page.read_text(encoding="utf-8"), []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CGSCORE_CACHE"] = str(Path(folder) / ".cache")
        os.chdir(folder)
        runner, printed = Runner(Path(folder)), ""
        try:
            for block in blocks(page):
                if block.output:
                    result = printed
                elif not block.run:
                    printed = ""
                    continue
                elif block.language == "console":
                    result = runner.console(block.text)
                elif block.language == "sh":
                    runner.command(block.text)
                    continue
                else:
                    printed = runner.python(block.text, name(page), block.line)
                    continue
                if not same(block.text, result):
                    _show(page, block, result)
                    changes.append((block, result))
        finally:
            runner.stop()
            os.chdir(ROOT)
    if write:
        for block, result in reversed(changes):
            text = text[: block.start] + result.rstrip() + "\n" + text[block.end :]
        page.write_text(text, encoding="utf-8")
    if write or not changes:
        return 0
    return DIFFERS_WHERE_IT_MAY if all(block.may_differ for block, _ in changes) else DIFFERS


def _show(page: Path, block: Block, printed: str) -> None:
    where = f"{name(page)}:{block.line}"
    old, new = (part.strip().splitlines() for part in (block.text, printed))
    print("\n".join(difflib.unified_diff(old, new, where, "printed", lineterm="")), flush=True)


def has_code(page: Path) -> bool:
    """Whether a page has a block that is run."""
    return name(page) not in RUN_BY_TESTS and any(block.run for block in blocks(page))


def main() -> int:
    """Run the pages that are asked for, each in a process of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="put what was printed into the pages")
    parser.add_argument("--same", action="store_true", help="fail if something else is printed")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        return run_page(asked.pages[0].resolve(), asked.write)
    failed: list[str] = []
    differing: list[str] = []
    verdicts = {0: "passed", DIFFERS: "DIFFERS", DIFFERS_WHERE_IT_MAY: "differs where it may"}
    if asked.same:
        verdicts[DIFFERS_WHERE_IT_MAY] = "DIFFERS"
    chosen = [page.resolve() for page in asked.pages] or [p for p in pages() if has_code(p)]
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONWARNINGS": "ignore",
        "COLUMNS": "100",
    }
    begun = time.monotonic()
    for page in chosen:
        start = time.monotonic()
        command = [sys.executable, "-m", "tests.docs.run_pages", "--here", str(page)]
        command += ["--write"] * asked.write
        try:
            code = subprocess.run(command, cwd=ROOT, env=environment, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            print(f"{name(page)}: not done after {SECONDS} s")
            code = 1
        took = f"{time.monotonic() - start:.0f} s"
        verdict = verdicts.get(code, "FAILED")
        print(f"{name(page):<40} {verdict}  {took}", flush=True)
        if verdict == "FAILED":
            failed.append(name(page))
        elif verdict == "DIFFERS":
            differing.append(name(page))
    print(f"{len(chosen)} pages in {time.monotonic() - begun:,.0f} s", flush=True)
    if failed:
        print(f"\nThe code of {len(failed)} pages fails: {', '.join(failed)}")
    if differing:
        print(f"\n{len(differing)} pages say something else: {', '.join(differing)}")
        print("See what is printed: python -m tests.docs.run_pages --write PAGE, then git diff")
    return 1 if failed or differing else 0


if __name__ == "__main__":
    try:
        status = main()
    except Exception:
        traceback.print_exc()
        status = 1
    sys.exit(status)
