"""Grids, and the measurements: plan → jobs → any executor → Parquet parts → one tidy frame."""
