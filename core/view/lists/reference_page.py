"""A page of references, callers, callees or relatives as data, for a front end that draws them itself."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.call_tree import CallNode
from keyhole.core.references.class_hierarchy import Relative
from keyhole.core.references.find import ReferenceLine
from keyhole.core.types.search_results import Hit


class ReferencePage(NamedTuple):
    """What was found about a definition: one page of lines, calls or relatives.

    `totals` counts all pages: by certainty, and relatives by their kinship.
    """

    definition: DefinitionRow
    totals: Counter[str]
    lines: Sequence[tuple[ReferenceLine, Hit]] = ()
    calls: Sequence[CallNode] = ()
    relatives: Sequence[Relative] = ()
