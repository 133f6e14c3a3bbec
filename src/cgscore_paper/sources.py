"""Digests of the source code that a job depends on.

The sources of a job are its module and every module of cgscore and cgscore_paper that it imports,
directly or not, at the top or inside a function. They are found by reading ``import`` statements,
without running them: imports for type checkers do not count, and where a registry loads modules of
a package by name, all of them do. Comments, docstrings, blank lines and the version of the package
do not count.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGES = ("cgscore", "cgscore_paper")
_ROOT = Path(__file__).resolve().parents[1]  # both packages are installed side by side


@functools.cache
def digest(module: str) -> str:
    """A short text that changes with the code of a module and of all that it imports."""
    content = hashlib.sha256()
    for name in dependencies(module):
        content.update(f"{name}\n{_code(name)}\n".encode())
    return content.hexdigest()[:16]


def script_digest(path: Path) -> str:
    """The same for a script outside of the packages, with the modules beside it that it imports."""
    scripts: dict[Path, ast.Module] = {}
    waiting = [path]
    while waiting:
        script = waiting.pop()
        if script not in scripts:
            scripts[script] = ast.parse(script.read_text(encoding="utf-8"))
            waiting += _beside(script, scripts[script])
    content = hashlib.sha256()
    for script in sorted(scripts):
        content.update(f"{script.name}\n{code(script.read_text(encoding='utf-8'))}\n".encode())
    used = {name for tree in scripts.values() for name in _imports(tree) | _attributes(tree)}
    for name in _closure(used):
        content.update(f"{name}\n{_code(name)}\n".encode())
    return content.hexdigest()[:16]


def _beside(script: Path, tree: ast.Module) -> list[Path]:
    """The files in the folder of a script that it imports."""
    names: set[str] = set()
    for node in _running_code(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    files = (script.parent / f"{name}.py" for name in names)
    return [file for file in files if file.is_file()]


def _attributes(tree: ast.Module) -> set[str]:
    """The modules that names used as ``cgscore.score`` lead to."""
    return {
        origin
        for node in _running_code(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in PACKAGES
        and _file(origin := _origin(node.value.id, node.attr))
    }


def dependencies(module: str) -> list[str]:
    """A module and the modules of `PACKAGES` that it imports, directly or not, in order."""
    return _closure([module])


def _closure(modules: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += imported(name)
    return sorted(seen)


@functools.cache
def imported(module: str) -> frozenset[str]:
    """The modules of `PACKAGES` that one module imports, with the packages that hold them."""
    return _imports(_tree(module))


def _imports(tree: ast.Module) -> frozenset[str]:
    names: set[str] = set()
    for node in _running_code(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module)
            names.update(_origin(node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            names.update(_loaded_by_name(node))
    packages = {
        ".".join(name.split(".")[:i]) for name in names for i in range(1, name.count(".") + 1)
    }
    ours = {name for name in names | packages if name.split(".")[0] in PACKAGES}
    return frozenset(name for name in ours if _file(name))


def code(text: str) -> str:
    """Source text without comments, docstrings, blank lines and space at the ends of lines.

    The line that sets ``__version__`` is left out, too.
    """
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if first is not None and ast.get_docstring(node, clean=False) is not None:
                lines[first.lineno - 1 : first.end_lineno] = [""] * (
                    (first.end_lineno or first.lineno) - first.lineno + 1
                )
    kept = (line.rstrip() for line in lines if line.strip())
    return "\n".join(line for line in kept if not line.startswith("__version__ = "))


@functools.cache
def _code(module: str) -> str:
    return code(_text(module))


def _running_code(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes outside of ``if TYPE_CHECKING:``."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _loaded_by_name(call: ast.Call) -> set[str]:
    """Every module that ``import_module(f"cgscore.methods.{name}")`` can load.

    Names of ``cgscore`` itself are left to `_origin`, which knows which of them is meant.
    """
    template = call.args[0] if call.args else None
    if not isinstance(template, ast.JoinedStr) or not isinstance(template.values[0], ast.Constant):
        return set()
    package = str(template.values[0].value).removesuffix(".")
    file = _file(package) if "." in package else None
    if file is None:
        return set()
    return {f"{package}.{path.stem}" for path in file.parent.glob("*.py") if path != file}


def _origin(package: str, name: str) -> str:
    """The module that ``from package import name`` leads to.

    That is a module of the package, or the one from which its ``__init__`` takes the name; where
    names are loaded on first use, the imports for type checkers say which.
    """
    if package.split(".")[0] not in PACKAGES or _file(package) is None:
        return package
    if _file(f"{package}.{name}"):
        return f"{package}.{name}"
    for node in ast.walk(_tree(package)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {alias.asname or alias.name for alias in node.names}
            if name in names:
                return node.module
    return package


def _file(module: str) -> Path | None:
    path = _ROOT.joinpath(*module.split("."))
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if file.is_file():
            return file
    return None


def _text(module: str) -> str:
    file = _file(module)
    if file is None:
        raise ValueError(f"There is no module {module} in {_ROOT}.")
    return file.read_text(encoding="utf-8")


@functools.cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_text(module))
