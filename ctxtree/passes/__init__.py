"""The passes: each takes a plan and gives the next."""
