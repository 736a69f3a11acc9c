"""`python -m reticent` is `reticent`."""

import sys

from reticent.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
