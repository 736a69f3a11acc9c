"""Field specifications of the other tables of a job: the job itself, its source, a column, its labels, the release."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from reticent.catalogue.fields import MAX_COUNT, MAX_NUMBER, Field, Relation

IDENTIFYING = "identifying"
QUASI = "quasi-identifying"
SENSITIVE = "sensitive"
INSENSITIVE = "insensitive"

LINE_STYLES = ("tight", "snapped", "padded")
TREE_STYLES = ("nodes", "sets")
_MIN_PART_ROWS = 1_000  # the last part may have fewer
MAX_FORMATS = 20  # of one column
MAX_SPELLINGS = 100_000  # of one column that are replaced
UNITS = ("$", "€", "£", "¥", "USD", "EUR", "GBP", "CHF")
"""Signs of currencies that are recognised in amounts."""
MISSING_RATE = "missing"
"""The rate of a currency whose amounts count as missing."""

JOB_FIELDS: Mapping[str, Field] = {
    "source": Field("part", "where rows come from, and how they are read", unset="a frame is passed to rt.publish"),
    "columns": Field("part", "the role of each column by its name, or a table of its options", required=True),
    "promise": Field("part", "what is promised, a table for each; `promises` in Python", required=True),
    "prepare": Field("part", "stages that prepare the rows before the method, a table for each", unset="none"),
    "method": Field("part", "how the release is planned: a name, or a table with it", unset='"mondrian"'),
    "release": Field("part", "how the release is written", unset="as the options of a release have it"),
    "about": Field(
        "part", "what the publisher says of the release, published as it is written", unset="nothing is said"
    ),
    "jointly": Field(
        "flag", "whether promises are about all sensitive columns together, and not about each", default=False
    ),
}

SOURCE_FIELDS: Mapping[str, Field] = {
    "path": Field("path", "a file, a folder or a pattern of files"),
    "url": Field("text", "the address of a database, with a `table` or a `query`"),
    "table": Field("text", "the table of the database to read"),
    "query": Field("text", "the query whose rows are read"),
    "delimiter": Field("text", "what separates the fields of a CSV", unset="guessed"),
    "quote": Field("text", "what encloses a field of a CSV that holds a delimiter", default='"'),
    "encoding": Field("text", "the encoding of a CSV", default="utf-8"),
    "missing": Field(
        "either",
        "texts that mean null, beside the empty field of a CSV; in columns of numbers and days, the numbers and days "
        "that are written like them",
        default=(),
        alternatives=(Field("text"), Field("list", entries=(0, MAX_COUNT), each=Field("text"))),
        refusal="missing must be a list of texts.",
        attempt='missing = ["?", "NA"].',
    ),
    "empty": Field(
        "choice",
        "whether an empty field of a CSV is null or an empty text",
        default="missing",
        choices=("missing", "value"),
        refusal="empty = {text} is not known.",
        attempt='"missing" or "value".',
    ),
    "broken": Field(
        "choice",
        "what becomes of broken lines of a CSV (too few or too many fields, a quote that is not closed): the file is "
        "refused and all are listed, or they are left out, counted, and stored with the owner",
        default="refuse",
        choices=("refuse", "set-aside"),
        refusal="broken = {text} is not known.",
        attempt='"refuse" or "set-aside".',
    ),
}

RANGE_FIELD = Field("range", refusal="A domain is two numbers, the least first.", attempt="domain = [0, 120].")
VALUES_FIELD = Field(
    "list",
    entries=(2, MAX_COUNT),
    each=Field("value"),
    refusal="A sensitive column's domain is two numbers, or a list of values.",
    attempt='domain = [0, 49], or domain = ["none", "mild", "severe"].',
)

_RATES_EXAMPLE = 'rates = { "$" = 1, "€" = 1.08, "£" = "missing" } with format = "1,234.5".'

COLUMN_FIELDS: Mapping[str, Field] = {
    "role": Field(
        "choice",
        "what the column is to a promise: never published, known to an adversary and generalized, protected, or "
        "published beside the record it came with",
        required=True,
        choices=(IDENTIFYING, QUASI, SENSITIVE, INSENSITIVE),
        aliases={
            "identifier": IDENTIFYING,
            "id": IDENTIFYING,
            "quasi": QUASI,
            "qi": QUASI,
            "quasi-identifier": QUASI,
            "sa": SENSITIVE,
        },
        refusal="Unknown role {text}.",
    ),
    "type": Field(
        "choice",
        "what the values are",
        unset="numbers and dates of a typed source are ranges, everything else a category",
        choices=("numeric", "ordinal", "categorical", "date"),
        roles=(QUASI, SENSITIVE, INSENSITIVE),
        refusal="Unknown column type {text}.",
    ),
    "hierarchy": Field(
        "hierarchy",
        "how values are generalized: a path, rows in ARX layout, a table that says how to build one or which plugin brings it, "
        "or a `Hierarchy`",
        roles=(QUASI, SENSITIVE),
    ),
    "order": Field(
        "list",
        "the values of an ordinal column, in order",
        entries=(0, MAX_COUNT),
        each=Field("value"),
        roles=(QUASI, SENSITIVE),
        refusal="An order is a list of values.",
        attempt='order = ["low", "middle", "high"].',
    ),
    "domain": Field(
        "either",
        "what can occur, independently of the people in the table: the least and the greatest number, of a sensitive "
        "column also a list of values",
        unset="the values that occur",
        alternatives=(RANGE_FIELD, VALUES_FIELD),
        roles=(QUASI, SENSITIVE),
    ),
    "missing": Field(
        "choice",
        "what becomes of a null: in a sensitive column it is refused, or published as a category of its own; in a "
        'quasi-identifying column it is grouped with others; with "withhold" its row is withheld, in both',
        default="refuse",
        choices=("refuse", "category", "withhold"),
        roles=(QUASI, SENSITIVE),
        refusal="missing = {text} is not known.",
        attempt='"refuse", "category" or "withhold".',
    ),
    "acknowledge": Field("flag", "lets a near-unique column pass", default=False, roles=(INSENSITIVE,)),
    "top": Field(
        "end", "the bound above which a value is published as the bound", roles=(QUASI, SENSITIVE, INSENSITIVE)
    ),
    "bottom": Field(
        "end", "the bound below which a value is published as the bound", roles=(QUASI, SENSITIVE, INSENSITIVE)
    ),
    "round_to": Field(
        "float",
        "the step that numbers are rounded to",
        least=Fraction(1, 10**15),
        most=10**15,
        below=True,
        roles=(SENSITIVE, INSENSITIVE),
        refusal="round_to must be a number above 0, from 1e-15 to 1e15.",
        attempt="round_to = 10.",
    ),
    "rows_per_person": Field(
        "integer",
        "the most rows that one person has: k-anonymity then counts persons",
        unset="every row is a person",
        least=1,
        roles=(IDENTIFYING,),
        refusal="rows_per_person must be a whole number of 1 or more.",
        attempt="rows_per_person = 3.",
    ),
    "beyond": Field(
        "choice",
        "what becomes of rows beyond `rows_per_person`: the table is refused, or so many rows of each such person, "
        "drawn at random, are withheld",
        default="refuse",
        choices=("refuse", "withhold"),
        roles=(IDENTIFYING,),
        refusal="beyond = {text} is not known.",
        attempt='"refuse" or "withhold".',
    ),
    "format": Field(
        "either",
        "how dates or numbers are written as text: `%m/%d/%Y`, `1,234.5`; a list of several, tried in its order",
        alternatives=(Field("text"), Field("list", entries=(1, MAX_FORMATS), each=Field("text"))),
        roles=(QUASI, SENSITIVE, INSENSITIVE),
        refusal=f"format must be a text, or a list of 1 to {MAX_FORMATS} texts.",
        attempt='format = "%m/%d/%Y", or format = ["%Y-%m-%d", "%d.%m.%Y"].',
    ),
    "ambiguous": Field(
        "choice",
        "what becomes of a text that two formats of the list read as different values: refused, or read by the first",
        default="refuse",
        choices=("refuse", "first"),
        roles=(QUASI, SENSITIVE, INSENSITIVE),
        published=False,
        refusal="ambiguous = {text} is not known.",
        attempt='"refuse" or "first".',
    ),
    "rates": Field(
        "table",
        'what an amount with each currency sign is worth in the unit of the column; "missing" makes such amounts missing',
        unset="amounts with different signs are refused",
        entries=(1, len(UNITS)),
        each=Field(
            "either",
            alternatives=(
                Field("float", least=0, above=True, most=10**12),
                Field(
                    "choice",
                    choices=(MISSING_RATE,),
                    refusal='A rate is a number above 0, or "missing".',
                    attempt=_RATES_EXAMPLE,
                ),
            ),
            refusal='A rate is a number above 0, or "missing".',
            attempt=_RATES_EXAMPLE,
        ),
        roles=(QUASI, SENSITIVE, INSENSITIVE),
        refusal='rates is a table of currency signs, each with a number or "missing".',
        attempt=_RATES_EXAMPLE,
    ),
    "map": Field(
        "table",
        "texts of the source, each with the text that replaces it before anything is counted; an empty text makes it "
        "missing",
        entries=(1, MAX_SPELLINGS),
        each=Field("text"),
        roles=(QUASI, SENSITIVE, INSENSITIVE),
        published=False,
        refusal="map is a table of texts, each with the text that replaces it.",
        attempt='map = { m = "M", male = "M" }.',
    ),
    "labels": Field("labels", "how groups print", unset="as the type of the column has it", roles=(QUASI,)),
}

_STYLE_EXAMPLE = 'labels = "snapped", or labels = { style = "padded", width = 2 }.'

LABEL_FIELDS: Mapping[str, Field] = {
    "style": Field(
        "choice",
        "of ranges: ends at the least and the greatest value of the group, on round numbers or calendar steps, or moved "
        "outwards by a secret amount; of categories: a node of the hierarchy, or the exact set of values",
        required=True,
        choices=(*LINE_STYLES, *TREE_STYLES),
        refusal="There is no label style {text}.",
    ),
    "step": Field(
        "either",
        "of snapped labels: ends lie on multiples of it; of dates a calendar step",
        unset="chosen from the range of the column",
        alternatives=(
            Field("decimal", least=0, above=True),
            Field(
                "choice",
                choices=("day", "week", "month", "quarter", "year", "decade"),
                refusal="labels: there is no calendar step {text}.",
            ),
        ),
        refusal="labels: step must be a number above 0.",
        attempt=_STYLE_EXAMPLE,
    ),
    "width": Field(
        "decimal",
        "of padded labels: the most that an end is moved by, of dates in days",
        least=0,
        above=True,
        refusal="labels: width must be a number above 0.",
        attempt=_STYLE_EXAMPLE,
    ),
    "share": Field(
        "decimal",
        "of padded labels: the most that an end is moved by, as a share of its own range",
        unset="the width alone decides",
        least=0,
        above=True,
        most=1,
        refusal="labels: share must be a number above 0.",
        attempt=_STYLE_EXAMPLE,
        excess=(
            "labels: share is at most 1, the whole of a range.",
            'labels = { style = "padded", width = 2, share = 0.5 }.',
        ),
    ),
}
LABEL_RELATIONS: tuple[Relation, ...] = (
    Relation("requires", "step", "style", "labels: step is for snapped labels.", _STYLE_EXAMPLE, needed="snapped"),
    Relation("requires", "width", "style", "labels: width is for padded labels.", _STYLE_EXAMPLE, needed="padded"),
    Relation("requires", "share", "style", "labels: share is for padded labels.", _STYLE_EXAMPLE, needed="padded"),
    Relation(
        "requires",
        "style",
        "width",
        "Padded labels need a width: the most that an end is moved by.",
        _STYLE_EXAMPLE,
        value="padded",
    ),
)

RELEASE_FIELDS: Mapping[str, Field] = {
    "undeclared": Field(
        "choice",
        "what becomes of columns without a role: the job is refused, or they are left out",
        default="refuse",
        choices=("refuse", "drop"),
        refusal="release.undeclared = {text} is not known.",
    ),
    "format": Field(
        "choice",
        "the format of the data files",
        default="parquet",
        choices=("parquet", "csv"),
        refusal="release.format = {text} is not known.",
    ),
    "suppress_at_most": Field(
        "number",
        "the share of rows that may be withheld where that lowers the loss",
        default=Fraction(0),
        least=0,
        most=1,
        refusal="suppress_at_most must be a share of the rows.",
        attempt="a number from 0 to 1.",
    ),
    "loss_at_most": Field(
        "number",
        "the greatest loss (AIL of the labels as printed; a row keeps 1 - AIL) at which the release is published; above it the job is refused",
        unset="no limit",
        least=0,
        most=1,
        refusal="loss_at_most must be a loss.",
        attempt="a number from 0 to 1, as 0.4.",
    ),
    "formulas": Field(
        "choice",
        'whether texts of a CSV that a spreadsheet would take for formulas stay, or get an apostrophe before them ("quote")',
        default="keep",
        choices=("keep", "quote"),
        refusal="release.formulas = {text} is not known.",
    ),
    "together": Field(
        "number",
        "the greatest belief in a value that this release and earlier ones of the same people may leave together",
        unset="not checked",
        least=0,
        above=True,
        most=1,
        refusal="release.together must be a belief.",
        attempt="a number above 0 and at most 1, as 0.5.",
    ),
    "odds_at_most": Field(
        "number",
        "the most by which this release and earlier ones of the same people may multiply the odds of a value together, "
        "where values are redrawn",
        unset="not checked",
        least=1,
        most=MAX_NUMBER,
        refusal="release.odds_at_most must be a factor from 1 on.",
        attempt="odds_at_most = 20.",
    ),
    "part_rows": Field(
        "integer",
        "cuts a data file of more rows into parts of so many: `data-00000.parquet`, `data-00001.parquet`, ...",
        unset="one file",
        least=_MIN_PART_ROWS,
        refusal=f"release.part_rows must be a whole number of rows, {_MIN_PART_ROWS:,} or more.",
        why="The manifest has a checksum of each part, and one of a few rows could be guessed from it.",
        attempt="part_rows = 10_000_000, or leaving it out: the data is one file then.",
    ),
}
RELEASE_RELATIONS: tuple[Relation, ...] = (
    Relation(
        "requires",
        "formulas",
        "format",
        'release.formulas = "quote" is for CSV files, which spreadsheets open.',
        'format = "csv", or leaving formulas out.',
        value="quote",
        needed="csv",
    ),
)
