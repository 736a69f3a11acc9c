"""Secure randomness in named streams (ADR 3).

One 32-byte key per publication.  Each use of randomness reads its own ChaCha20 stream, keyed by BLAKE2b(key, name), so
that adding a use never shifts another.  `seed` replaces the operating system's entropy for tests and studies; a seeded
release is stamped "not for publication".
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True, slots=True)
class Random:
    key: bytes = field(repr=False)
    seeded: bool = False

    @classmethod
    def secure(cls) -> Random:
        """Make a key from the operating system; raises if it has no secure source."""
        return cls(secrets.token_bytes(32))

    @classmethod
    def from_seed(cls, seed: int) -> Random:
        return cls(hashlib.blake2b(f"reticent seed {int(seed)}".encode(), digest_size=32).digest(), seeded=True)

    @classmethod
    def from_optional_seed(cls, seed: int | None) -> Random:
        return cls.secure() if seed is None else cls.from_seed(seed)

    def derive(self, name: str) -> Random:
        """Derive a key for one named use that draws in several streams."""
        return replace(self, key=hashlib.blake2b(f"apart {name}".encode(), key=self.key, digest_size=32).digest())

    def _make_bits(self, name: str, counter: int = 0):
        from randomgen import ChaCha

        words = hashlib.blake2b(name.encode(), key=self.key, digest_size=32).digest()
        return ChaCha(key=int.from_bytes(words, "little"), counter=counter, rounds=20)

    def stream(self, name: str) -> np.random.Generator:
        """Return a NumPy generator for one named use."""
        return np.random.Generator(self._make_bits(name))

    def words(self, name: str, start: int, count: int) -> np.ndarray:
        """Return PRF(key, position) for positions start .. start + count: 64-bit words of the stream, however it is divided into chunks."""
        return self._make_bits(name, counter=2 * start).random_raw(count)  # the counter moves in 32-bit words
