"""Builds the report site out of executed notebooks: plain files, nothing fetched from anywhere, readable on a phone."""

from __future__ import annotations

import html
import json
import os
import platform
import re
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..jit.source import code_digest
from .data import ROOT
from .report import machine

VERDICTS = ("reproduced", "refuted", "undecided")
STYLE = (Path(__file__).parent / "site.css").read_text(encoding="utf-8")


def build(results: Path, site: Path, profile: str) -> Path:
    """The site of a results folder; built beside the old one and swapped in, so that no reader meets half of it."""
    part = site.with_name(f".{site.name}.{os.getpid()}.{secrets.token_hex(3)}")
    marks = sorted(results.glob("[0-9]*_*/mark.json"))
    done = [mark.parent for mark in marks if mark.with_name("notebook.ipynb").is_file()]
    (part / "files").mkdir(parents=True)
    try:
        books = [_book(home) for home in done]
        for book in books:
            _copy_files(book["home"], part / "files" / book["name"])
        pages = [(book["name"], book["title"]) for book in books]
        for book in books:
            body = book["body"] + _downloads(part, book["name"])
            _write(
                part / f"{book['name']}.html",
                _page(book["title"], body, pages, book["name"], _provenance(profile, [book])),
            )
        _write(
            part / "index.html",
            _page("Five reports, played again", _front(books, profile), pages, "index", _provenance(profile, books)),
        )
        _write(part / "style.css", STYLE.strip() + "\n" + _code_style())
        old = site.with_name(f".{site.name}.old.{secrets.token_hex(3)}")
        if site.exists():
            os.replace(site, old)
        os.replace(part, site)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return site / "index.html"


def _book(home: Path) -> dict[str, Any]:
    """An executed notebook as a page."""
    notebook = json.loads((home / "notebook.ipynb").read_text(encoding="utf-8"))
    found = home / "findings.json"
    title, parts = home.name, []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            heading = re.match(r"# (.+)", source)
            title = heading[1] if heading and title == home.name else title
            parts.append(_markdown(source))
        elif cell["cell_type"] == "code":
            what = (
                "parameters"
                if {"parameters", "injected-parameters"} & set(cell["metadata"].get("tags", []))
                else "code"
            )
            parts.append(f"<details><summary>{what}</summary>{_code(source)}</details>" if source.strip() else "")
            parts += [_output(output, home.name) for output in cell.get("outputs", ())]
    return {
        "name": home.name,
        "home": home,
        "title": title,
        "body": "\n".join(parts),
        "mark": json.loads((home / "mark.json").read_text(encoding="utf-8")),
        "findings": json.loads(found.read_text(encoding="utf-8")) if found.is_file() else [],
    }


def _markdown(text: str) -> str:
    import mistune

    rendered = str(mistune.create_markdown(escape=True, plugins=["table", "strikethrough"])(text))
    rendered = re.sub(r'href="(\d\d_\w+)\.ipynb"', r'href="\1.html"', rendered)
    rendered = rendered.replace("<table>", "<div class=table><table>").replace("</table>", "</table></div>")
    return re.sub(r"<h([23])>(.+?)</h", lambda m: f'<h{m[1]} id="{_anchor(m[2])}">{m[2]}</h', rendered)


def _anchor(text: str) -> str:
    return re.sub(r"\W+", "-", re.sub("<.*?>", "", text)).strip("-").lower()


def _code(source: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return highlight(source, PythonLexer(), HtmlFormatter())


def _code_style() -> str:
    from pygments.formatters import HtmlFormatter

    light, dark = (HtmlFormatter(style=name).get_style_defs(".highlight") for name in ("default", "github-dark"))
    rules = [re.sub(r"\.highlight \{ background: [^;]+;", ".highlight {", text) for text in (light, dark)]
    return f"{rules[0]}\n@media (prefers-color-scheme: dark) {{ {rules[1]} }}\n"


def _output(output: dict[str, Any], name: str) -> str:
    """What a cell showed; tables and figures by their files."""
    facts = output.get("metadata", {}).get("gamekit", {})
    if facts.get("caption_of"):
        return ""
    if facts.get("figure"):
        src = f"files/{name}/figures/{facts['figure']}"
        caption = html.escape(facts["caption"])
        return (
            f'<figure><img src="{src}.svg" alt="{caption}"><figcaption>{caption}</figcaption></figure>'
            f"<p class=files>{_links([f'{src}.svg', f'{src}.png'])}</p>"
        )
    if output["output_type"] == "stream":
        return f"<pre>{html.escape(''.join(output['text']))}</pre>" if output.get("name") == "stdout" else ""
    data = output.get("data", {})
    for kind in ("text/html", "image/svg+xml", "text/markdown", "image/png", "text/plain"):
        if kind in data:
            return _shown(kind, "".join(data[kind]), facts, name)
    return ""


def _shown(kind: str, text: str, facts: dict[str, Any], name: str) -> str:
    if kind == "text/markdown":
        return _markdown(text)
    if kind == "text/plain":
        return "" if text.startswith("<") else f"<pre>{html.escape(text)}</pre>"
    if kind == "image/png":
        return f'<div class=output><img alt="" src="data:image/png;base64,{"".join(text.split())}"></div>'
    folder = "tables" if facts.get("table") else "timed" if facts.get("timed") else None
    link = _links([f"files/{name}/{folder}/{facts.get('table') or facts.get('timed')}.csv"]) if folder else ""
    return f"<div class=output>{text}</div>" + (f"<p class=files>{link}</p>" if link else "")


def _links(paths: Sequence[str]) -> str:
    return "download " + " · ".join(f'<a href="{p}" download>{p.rsplit("/", 1)[-1]}</a>' for p in paths)


def _copy_files(home: Path, to: Path) -> None:
    for folder in ("tables", "figures", "timed"):
        if (home / folder).is_dir():
            shutil.copytree(home / folder, to / folder)
    shutil.copy2(home / "notebook.ipynb", (to / home.name).with_suffix(".ipynb")) if to.is_dir() else None


def _downloads(site: Path, name: str) -> str:
    files = sorted(path.relative_to(site).as_posix() for path in (site / "files" / name).rglob("*") if path.is_file())
    items = "".join(f'<li><a href="{path}" download>{path.split("/", 2)[2]}</a></li>' for path in files)
    head = f"<h2 id=downloads>Downloads</h2><details><summary>{len(files)} files</summary>"
    return f"{head}<ul>{items}</ul></details>" if files else ""


def _front(books: Sequence[dict[str, Any]], profile: str) -> str:
    """Headline findings, the scoreboard, and where to read on."""
    parts = [
        "<h1>Five reports, played again</h1>",
        "<p>Five course reports on adversarial search made claims about five games. Here their tables and "
        "figures are made "
        "anew, with larger samples and intervals, each beside the number that was printed, and every claim gets a "
        f"verdict. This is the <b>{html.escape(profile)}</b> profile.</p>",
    ]
    claims = next(
        (b["home"] / "tables" / "claims.csv" for b in books if (b["home"] / "tables" / "claims.csv").is_file()), None
    )
    if claims is not None:
        frame = pd.read_csv(claims, dtype=str, keep_default_na=False)
        counts = frame["verdict"].value_counts()
        parts.append(
            "<h2>The claims</h2><div class=score>"
            + "".join(f"<div class={v}><b>{counts.get(v, 0)}</b>{v}</div>" for v in VERDICTS)
            + f"</div><p>{len(frame)} claims in all; <a href=80_claims.html>each with its evidence</a>.</p>"
        )
        rows = "".join(
            f"<tr><td class={r.verdict}>{r.verdict}</td><td>{html.escape(r.report)}</td>"
            f"<td>{html.escape(r.claim)}</td></tr>"
            for r in frame.itertuples()
        )
        parts.append(
            "<details><summary>the scoreboard, claim by claim</summary><div "
            "class=table><table><thead><tr><th>verdict</th>"
            f"<th>report</th><th>claim</th></tr></thead><tbody>{rows}</tbody></table></div></details>"
        )
    parts.append("<h2>What was found</h2>")
    parts += [
        f"<h3><a href={b['name']}.html>{html.escape(b['title'])}</a></h3>{_markdown(b['findings'][0])}"
        for b in books
        if b["findings"]
    ]
    rest = [b for b in books if not b["findings"]]
    if rest:
        parts.append(
            "<h2>Also here</h2><ul>"
            + "".join(f"<li><a href={b['name']}.html>{html.escape(b['title'])}</a></li>" for b in rest)
            + "</ul>"
        )
    return "\n".join(parts)


def _provenance(profile: str, books: Sequence[dict[str, Any]]) -> str:
    """Where the numbers come from, in enough detail to make them again."""
    import numba
    import numpy as np

    from .. import __version__

    try:
        commit = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, timeout=5
        )
        where = f", commit {commit.stdout.strip()}" if commit.returncode == 0 else ""
    except (OSError, subprocess.SubprocessError):
        where = ""
    seconds = sum(book["mark"]["seconds"] for book in books)
    facts = [
        f"gamekit {__version__}{where}, code and data {code_digest('gamekit.notebook.report')[:12]}",
        f"profile {profile}",
        f"Python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}, pandas "
        f"{pd.__version__}",
        f"{seconds:.0f} s of notebooks on {machine()}",
    ]
    if len(books) == 1:
        given = {k: v for k, v in books[0]["mark"]["parameters"].items() if k not in ("results", "profile")}
        facts.append("parameters " + ", ".join(f"{k}={v}" for k, v in given.items()))
    return " · ".join(map(html.escape, facts))


def _page(title: str, body: str, pages: Sequence[tuple[str, str]], here: str, foot: str) -> str:
    links = "".join(
        f'<a href="{name}.html"{" aria-current=page" if name == here else ""}>{html.escape(text)}</a>'
        for name, text in [("index", "Findings"), *((n, t.split(":")[0]) for n, t in pages)]
    )
    return (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
        'content="width=device-width, initial-scale=1">'
        f'<title>{html.escape(title)}</title><link rel=icon href="data:,"><link rel=stylesheet '
        "href=style.css></head>\n"
        f"<body><nav>{links}</nav><main>{body}</main><footer>{foot}</footer></body></html>\n"
    )


def contact_sheet(path: Path, title: str, figures: Sequence[tuple[str, str]], tables: Sequence[str]) -> None:
    """All figures of a grid's runs on one page."""
    body = (
        f"<h1>{html.escape(title)}</h1><p class=files>"
        + (_links([f"tables/{t}" for t in tables]) if tables else "")
        + "</p>"
    )
    body += "".join(
        f'<figure><img src="{html.escape(src)}" '
        f'alt="{html.escape(label)}"><figcaption>{html.escape(label)}</figcaption></figure>'
        for label, src in figures
    )
    _write(
        path,
        f"<!doctype html>\n<html lang=en><meta charset=utf-8><title>{html.escape(title)}</title><link "
        "rel=icon href='data:,'>"
        f"<style>{STYLE}</style><main>{body}</main></html>\n",
    )


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
