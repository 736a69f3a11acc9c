"""Cells, groups and verdicts from plain histograms: what the model tests share with `reticent.testing`."""

from reticent.testing import HIERARCHY as TREE
from reticent.testing import judge_groups as verdicts
from reticent.testing import make_cells_of_groups as cells_of
from reticent.testing import make_numbered_groups as groups_by

__all__ = ["TREE", "cells_of", "groups_by", "verdicts"]
