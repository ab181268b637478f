"""Notebooks as experiments: the report object, checked parameters, the runner, claims, the site."""

from .data import printed
from .report import report

__all__ = ["printed", "report"]
