"""JupyterLab on this machine only, opened on the first notebook."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

from ..errors import GamekitError
from .data import ROOT

START = "notebooks/00_start_here.ipynb"


def command(root: Path, port: int, browser: bool, notebook: str = START) -> list[str]:
    """How JupyterLab is started: on loopback, fetching nothing; the token is not among what everyone can see."""
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.open_browser": browser,
        "ServerApp.root_dir": root,
        "LabApp.default_url": f"/lab/tree/{notebook}",
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
        "ServerApp.allow_root": hasattr(os, "geteuid") and os.geteuid() == 0,
    }
    return [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]


def environment(token: str) -> dict[str, str]:
    """The token, and a setting of ours beside the user's own: no question whether to fetch news."""
    paths = [str(Path(__file__).parents[1] / "widgets"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    return {**os.environ, "JUPYTER_TOKEN": token, "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths))}


def lab(port: int = 8888, browser: bool = True) -> int:
    """Run JupyterLab on `00_start_here` until it is stopped; its exit code. A port in use moves on to the next."""
    if not 0 <= port <= 65535:
        raise GamekitError(f"port={port} is not allowed; a port is a number from 0 to 65535")
    if not (ROOT / START).is_file():
        raise GamekitError(f"{START} was not found; `gamekit lab` runs in a copy of the project")
    if subprocess.run([sys.executable, "-c", "import jupyterlab, anywidget"], capture_output=True).returncode:
        raise GamekitError("JupyterLab is not installed; `make setup` installs it, or pip install -e '.[lab]'")
    token = secrets.token_hex(24)
    server = subprocess.Popen(command(ROOT, port, browser), cwd=ROOT, env=environment(token))
    print(f"JupyterLab opens {START}; stop it with Ctrl-C. Its token, should a page ask: {token}", flush=True)
    try:
        return server.wait()
    except KeyboardInterrupt:  # the way it is meant to end
        server.terminate()
        server.wait()
        return 0
