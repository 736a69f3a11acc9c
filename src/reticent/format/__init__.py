"""Bytes of a release on disk: manifest, data files, folder; everything that is read is untrusted."""
