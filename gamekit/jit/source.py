"""Which code a module depends on, read off its import lines, and a digest of it.

Whatever is stored under a digest (machine code, measurements, finished notebooks) is out of date exactly when a
file it depends on has changed. The dependencies are found, not listed by hand.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(r"^[ \t]*from[ \t]+(\.+)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]+)", re.MULTILINE)


@cache
def _file(module: str) -> Path | None:
    """The file of a module of this package (`gamekit.core`), or None."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return next((f for f in (path.with_suffix(".py"), path / "__init__.py") if f.is_file()), None)


@cache
def imports(module: str) -> frozenset[str]:
    """The package's modules that a module imports, lazily or not."""
    file = _file(module)
    if file is None:
        return frozenset()
    inside = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    found = set()
    for dots, name, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
        base = ".".join([*inside[: len(inside) - len(dots) + 1], *filter(None, [name])])
        for word in re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?", re.sub(r"#.*", "", names)):
            found.add(f"{base}.{word}" if _file(f"{base}.{word}") else base)
    return frozenset(one for one in found if _file(one) and one != PACKAGE.name)


@cache
def depends_on(module: str) -> frozenset[str]:
    """A module and all it imports, directly or not."""
    found, waiting = set(), [module]
    while waiting:
        one = waiting.pop()
        if one in found or _file(one) is None:
            continue
        found.add(one)
        waiting += imports(one)
    return frozenset(found)


@cache
def code_digest(*modules: str) -> str:
    """A digest of the code that modules depend on; comments, docstrings and blank lines do not count."""
    digest = hashlib.sha256()
    for one in sorted({one for module in modules for one in depends_on(module)}):
        file = _file(one)
        digest.update(one.encode() + (bare(file.read_text(encoding="utf-8")).encode() if file else b""))
    return digest.hexdigest()[:16]


def bare(source: str) -> str:
    """Source without docstrings, comments and blank lines; in doubt something is left in."""
    source = re.sub(r'^[ \t]*"""[\s\S]*?"""[ \t]*\n', "", source, flags=re.MULTILINE)
    source = re.sub(r"(^|[ \t]+)#[^'\"\n]*$", "", source, flags=re.MULTILINE)
    return re.sub(r"\n\s*\n+", "\n", source)
