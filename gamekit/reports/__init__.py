"""The five course reports: what they printed, and the tables and figures that answer them, one file a report."""

from .desk import Report, begin, printed

__all__ = ["Report", "begin", "printed"]
