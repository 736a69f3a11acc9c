"""BUREL: beta-likeness by bucketing and redistribution (paper 1, section 4)."""

from reticent.methods.burel.method import Burel as Burel
