"""A frame → summaries with intervals, and plots."""
