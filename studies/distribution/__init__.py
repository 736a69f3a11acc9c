"""The experiments of Koudas, Srivastava, Yu & Zhang (VLDB 2009), section 6."""
