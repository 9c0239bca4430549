"""What ctxtree keeps, how fast, at what cost: `python -m benchmarks`. See `benchmarks/README.md`."""
