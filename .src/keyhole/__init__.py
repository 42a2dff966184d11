"""Keyhole: see your codebase the way your agent does."""

import os

# In a clone, links next to this file lead to the folders of the package. A clone on Windows, a zip download and the
# source package may lack the links; then the folders are found at the top.
_HERE = os.path.dirname(__file__)  # noqa: PTH120  # pathlib would make every start slower
if not os.path.isdir(f"{_HERE}/core"):  # noqa: PTH112
    __path__.append(os.path.dirname(os.path.dirname(_HERE)))  # noqa: PTH120
