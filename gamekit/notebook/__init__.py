"""Notebooks as experiments: the report object, checked parameters, the runner, claims, the site."""
