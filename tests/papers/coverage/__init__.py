"""The five papers, item by item: the data of docs/papers.md, which `python -m tests.papers.coverage` prints."""

from tests.papers.coverage.background import PAPER as BACKGROUND
from tests.papers.coverage.beta_likeness import PAPER as BETA_LIKENESS
from tests.papers.coverage.distribution import PAPER as DISTRIBUTION
from tests.papers.coverage.perturbed_generalization import PAPER as PERTURBED_GENERALIZATION
from tests.papers.coverage.skewed import PAPER as SKEWED

PAPERS = (BETA_LIKENESS, SKEWED, BACKGROUND, DISTRIBUTION, PERTURBED_GENERALIZATION)
