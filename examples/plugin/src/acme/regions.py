"""The hierarchy acme:regions: cities, the region that each is in, and everywhere; `coarse` leaves the regions out."""

from reticent.catalogue import Field, HierarchyRow

ROW = HierarchyRow(
    "acme.regions:list_rows",
    {"coarse": Field("flag", "whether the level of regions is left out", default=False)},
    doc="Four cities in two regions.",
)
REGIONS = {"Bonn": "south", "Jena": "north", "Kiel": "north", "Ulm": "south"}


def list_rows(*, coarse: bool = False) -> list[list[str]]:
    return [[city, "*"] if coarse else [city, region, "*"] for city, region in REGIONS.items()]
