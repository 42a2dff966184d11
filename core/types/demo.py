"""What the scripted agent of `keyhole demo` does."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DemoStep:
    """A call, and what to say about it; `lens` is a client to view the answer as, `replay` has changed arguments."""

    client: str
    tool: str
    arguments: Mapping[str, object]
    says: str
    lens: str = ""
    replay: Mapping[str, object] = field(default_factory=dict)
