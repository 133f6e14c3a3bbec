"""Empty environments outside of the repository, with the wheel and one extra each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: What each environment can do: the extra that is installed, and those that it brings.
EXTRAS: dict[str, frozenset[str]] = {
    "core": frozenset(),
    "review": frozenset({"review"}),
    "dask": frozenset({"dask"}),
    "torch": frozenset({"torch"}),
    "features": frozenset({"features", "torch"}),
    "paper": frozenset({"paper", "features", "torch"}),
}
#: Where other packages bring all of these along, what needs the extra works without it.
MODULES = {
    "review": ("fastapi", "uvicorn"),
    "dask": ("dask", "distributed"),
    "torch": ("torch",),
    "features": ("torch", "transformers", "efficientnet_lite_pytorch", "all_minilm_l6_v2"),
    "paper": ("matplotlib", "torch", "transformers"),
}
PIP = ("-m", "pip", "install", "-qq", "--disable-pip-version-check")


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder in which its commands run."""

    extra: str
    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self._program("python")

    @property
    def command(self) -> Path:
        """Its command `cgscore`."""
        return self._program("cgscore")

    @property
    def work(self) -> Path:
        """The folder in which its commands run."""
        return self.folder / "work"

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables without those that would show the commands another cgscore."""
        hidden = ("PYTHONPATH", "VIRTUAL_ENV", "CGSCORE_DATA", "CGSCORE_TESTS")
        inherited = {name: value for name, value in os.environ.items() if name not in hidden}
        return {**inherited, "CGSCORE_CACHE": str(self.folder / "cache")}

    def run(
        self, *command: str | Path, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command there."""
        return subprocess.run(
            list(map(str, command)),
            cwd=cwd or self.work,
            env=self.variables,
            capture_output=True,
            text=True,
        )

    def has(self, extra: str) -> bool:
        """Whether what needs an extra must work here."""
        program = (
            "import sys; from importlib.util import find_spec\n"
            f"sys.exit(not all(map(find_spec, {MODULES[extra]})))"
        )
        return extra in EXTRAS[self.extra] or not self.run(self.python, "-c", program).returncode

    def _program(self, name: str) -> Path:
        windows = sys.platform == "win32"
        return self.folder / ("Scripts" if windows else "bin") / (name + ".exe" * windows)


def locked_versions(extra: str) -> list[str]:
    """Versions of this Python's lock, without hashes: pip allows none beside a wheel of our own."""
    version = ".".join(map(str, sys.version_info[:2]))
    suffix = "-core" if extra == "core" else ""
    text = (ROOT / "constraints" / f"python{version}{suffix}.txt").read_text()
    return re.findall(r"^[\w.-]+(?:\[[\w,]+\])?==[^\s;]+(?: ?;[^\\\n]+)?", text, re.MULTILINE)


def make(folder: Path, wheel: Path, extra: str) -> Environment:
    """An empty environment with the wheel and the extra, in the versions of the lock."""
    environment = Environment(extra, folder)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    environment.work.mkdir()
    versions = folder / "versions.txt"
    versions.write_text("\n".join(locked_versions(extra)) + "\n")
    target = f"cgscore @ {wheel.as_uri()}" if extra == "core" else None
    target = target or f"cgscore[{extra}] @ {wheel.as_uri()}"
    done = environment.run(environment.python, *PIP, "-c", versions, target)
    if done.returncode:
        raise RuntimeError(f"cgscore[{extra}] cannot be installed:\n{done.stderr}")
    return environment


def installed_megabytes(environment: Environment) -> float:
    """Size of what pip installed, by its own records; bytecode is counted."""
    program = (
        "import importlib.metadata as m, pathlib\n"
        "files = {f.locate() for d in m.distributions() if d.name not in ('pip', 'setuptools')"
        " for f in d.files or []}\n"
        "print(sum(pathlib.Path(f).stat().st_size for f in files if pathlib.Path(f).is_file()))"
    )
    return int(environment.run(environment.python, "-c", program).stdout) / 1e6
