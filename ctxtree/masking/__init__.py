"""Secrets masked at the exits: what is stored stays as it is, what goes out through a mask does not show it."""

from ctxtree.masking.mask import Mask, mask_for

__all__ = ["Mask", "mask_for"]
