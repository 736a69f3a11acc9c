"""How `make docs` turns these pages into a site; docs/adr/0007-building.md says why with these tools."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # pages.py
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

project = "reticent"
html_title = "reticent"
author = "the authors of reticent"
extensions = ["myst_parser", "sphinx.ext.autodoc", "pages", "sphinx.ext.napoleon"]
exclude_patterns = ["site"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_enable_extensions = ["fieldlist"]
suppress_warnings = ["misc.highlighting_failure"]  # a console block is no program
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
toc_object_entries = False
autodoc_preserve_defaults = True
html_extra_path = ["../job.schema.json"]
pygments_style = "default"
pygments_dark_style = "monokai"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": False}
add_module_names = False
python_use_unqualified_type_names = True
