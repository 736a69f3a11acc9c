"""Distribution-based anonymization (Koudas, Srivastava, Yu & Zhang, VLDB 2009)."""

from reticent.methods.distribution.method import Distribution as Distribution
