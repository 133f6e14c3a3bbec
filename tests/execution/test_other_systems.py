"""The package on a system without what only POSIX has.

Modules and functions that macOS or Windows lack are taken away from cgscore; the libraries that it
uses keep them, as they have their own ways on each system.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cgscore

WITHOUT = """
import builtins, importlib, os, signal, sys

MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog"}
usual_import, usual_import_module = builtins.__import__, importlib.import_module

def refusing(name, globals=None, locals=None, fromlist=(), level=0):
    importer = (globals or {}).get("__name__", "")
    if name in MODULES and importer.split(".")[0] in ("cgscore", "cgscore_paper"):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return usual_import(name, globals, locals, fromlist, level)

def refusing_module(name, package=None):
    if name in MODULES:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return usual_import_module(name, package)

builtins.__import__, importlib.import_module = refusing, refusing_module
for module, names in {
    os: "fork forkpty register_at_fork sched_getaffinity nice getloadavg O_NOFOLLOW "
        "mkfifo getpgid setsid".split(),
    signal: "SIGHUP SIGUSR1 pthread_sigmask pthread_kill SIGKILL".split(),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""

COMMANDS = """
import pkgutil
import cgscore, cgscore.cli, cgscore.execution, cgscore.result, cgscore.report
for package in (cgscore, cgscore.cli, cgscore.execution, cgscore.result, cgscore.report):
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if not found.ispkg and not found.name.endswith(("__main__", ".dask")):
            usual_import_module(found.name)

def run(*arguments):
    try:
        cgscore.cli.app(list(arguments), prog_name="cgscore")
    except SystemExit as done:
        assert not done.code, (arguments, done.code)

run("--version")
run("score", "sklearn:iris", "-o", "s.parquet", "--checkpoint", "kept", "--method", "exact")
run("issues", "s.parquet", "--why", "-o", "issues.csv")
run("prune", "s.parquet", "--keep", "0.5", "-o", "kept.csv")
run("next", "sklearn:iris", "--like", "s.parquet", "--budget", "3", "-o", "next.csv")
run("report", "s.parquet", "-o", "report.html")
run("info", "sklearn:iris")
run("features", "texts.csv", "--encoder", "tfidf", "-o", "features.npz")
print("done")
"""

REVIEW = """
import signal
import cgscore.review.server as server
with server.clean_exit_on_signals():
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
with server.listening_socket(0) as listening:
    assert listening.getsockname()[0] == "127.0.0.1"
server.socket.SO_EXCLUSIVEADDRUSE = ~4  # the number it has on Windows
assert server._address_option() == ~4
print("done")
"""

CLUSTER = """
import signal
from cgscore.execution.dask import _deferred_interrupts
try:
    with _deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        print("deferred")
except KeyboardInterrupt:
    print("done")
"""


def run(program: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(cgscore.__file__).parents[1])}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_command_runs(tmp_path: Path) -> None:
    lines = [f"{'good nice fine' if i % 2 else 'bad poor sad'} {i},{i % 2}" for i in range(12)]
    (tmp_path / "texts.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    assert run(COMMANDS, tmp_path).endswith("done\n")
    assert (tmp_path / "kept" / "checkpoint.json").exists()


def test_a_checkpoint_is_used_again(tmp_path: Path) -> None:
    program = """
import cgscore, numpy as np
X = np.random.default_rng(0).standard_normal((60, 5))
y = np.arange(60) % 2
first, second = (cgscore.score(X, y, method="exact", checkpoint="kept") for _ in range(2))
assert first.table.equals(second.table)
print("done")
"""
    assert run(program, tmp_path) == "done\n"


@pytest.mark.needs("fastapi")
def test_the_review_listens_and_ends(tmp_path: Path) -> None:
    assert run(REVIEW, tmp_path) == "done\n"


@pytest.mark.needs("distributed")
def test_an_interrupt_waits_for_dask(tmp_path: Path) -> None:
    assert run(CLUSTER, tmp_path) == "deferred\ndone\n"
