"""Runs case files: neutral operations on trees, through the public API."""
