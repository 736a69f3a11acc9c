"""Mosaic: local recoding that gives up the least information for a promise."""

from reticent.methods.mosaic.method import Mosaic as Mosaic
