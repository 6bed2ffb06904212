"""Sphinx's settings; scripts/docs.sh puts this file beside the pages and the reference."""

import aisampler

project = "aisampler"
author = copyright = "the authors of aisampler"
version = release = aisampler.__version__
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["README.md", "xml", "data"]  # index.md includes the README
suppress_warnings = ["toc.not_included", "myst.header"]  # results and notebook: their own first pages lead to them
html_theme = "furo"
html_title = f"aisampler {version}"
html_show_copyright = html_show_sphinx = html_copy_source = False
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]  # set by MathJax, from the network; without it pages show the formulas as TeX
breathe_projects = {"aisampler": "xml"}
breathe_default_project = "aisampler"
breathe_domain_by_extension = {"h": "c"}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
