"""SABRE: t-closeness by buckets whose worst case fits (paper 1's comparator)."""

from reticent.methods.sabre.method import Sabre as Sabre
