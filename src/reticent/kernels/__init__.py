"""Kernels: arrays in, arrays out.  No I/O, no objects, no global random state, no validation.

Each module is Cython in pure Python mode: compiled when the package is built, runnable as it stands.
"""
