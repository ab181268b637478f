"""gamekit beside C and beside its peers, in one run: `python -m bench`."""
