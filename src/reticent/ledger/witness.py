"""A release's witness: which row has which of the values that are published apart from rows, for the owner's audit.

It is the value of every published row, in the order of the file, as bytes that the release's kind interprets.
Together with the release it is as secret as the source itself, so that it is never written in plain: the file
`witness.bin` in the owner's notes is encrypted by the ledger's secret, which is stored elsewhere. Without either of
them it discloses nothing but its length.

Nothing vouches for what is read here: users of a witness have to verify it by counting.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import zlib
from pathlib import Path

from reticent.errors import RequestError
from reticent.ledger.paths import list_notes_folders, resolve_ledger_folder
from reticent.ledger.private_files import read_key
from reticent.operating_system import NO_WAIT, open_unlinked

WITNESS = "witness.bin"
NONCE_BYTES = 16
MAX_FILE_BYTES = 1 << 25  # a journal's notes are read again if they have twice as many at most (`directory_handles`)
_PURPOSE = b"reticent witness"


def encrypt_witness(witness: bytes, key: bytes) -> bytes | None:
    """Return the content of the file, by the ledger's secret; None where it would be too long to be kept."""
    packed = zlib.compress(witness, 1)
    if NONCE_BYTES + len(packed) > MAX_FILE_BYTES:
        return None
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + _cover(packed, key, nonce)


def decrypt_witness(content: bytes, key: bytes, size: int) -> bytes | None:
    """Return the witness of `size` bytes; None where the content is none of that size, or of another ledger."""
    nonce = content[:NONCE_BYTES]
    covered = content[NONCE_BYTES:]
    unpacking = zlib.decompressobj()
    try:
        witness = unpacking.decompress(_cover(covered, key, nonce), size + 1)
    except zlib.error:
        return None
    return witness if unpacking.eof and len(witness) == size else None


def read_witness(release: Path, size: int) -> bytes | None:
    """Return the witness in the owner's notes on a release; None where there is none that the ledger in use can read."""
    for notes in list_notes_folders(release.absolute()):
        content = read_regular_file(notes / WITNESS)
        if content is None:
            continue
        try:
            return decrypt_witness(content, read_key(resolve_ledger_folder()), size)
        except RequestError:  # there is no ledger, or it has no secret
            return None
    return None


def _cover(content: bytes, key: bytes, nonce: bytes) -> bytes:
    """Add the stream of a key and a nonce (SHAKE-256 of both) to the content; twice the same gives the content back."""
    stream = hashlib.shake_256(_PURPOSE + key + nonce).digest(len(content))
    return (int.from_bytes(content, "little") ^ int.from_bytes(stream, "little")).to_bytes(len(content), "little")


def read_regular_file(path: Path) -> bytes | None:
    """Return the content of a file that is no link, pipe or device, and not too long; None where there is none."""
    try:
        with os.fdopen(open_unlinked(path, os.O_RDONLY | NO_WAIT), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
                return None
            return stream.read(MAX_FILE_BYTES)
    except OSError:
        return None
