"""`python -m tests.papers.coverage > docs/papers.md` prints the page about the papers."""

import sys

from tests.papers.coverage.page import print_page

sys.stdout.write(print_page())
