"""The sign after what is marked for the bundle."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyhole.core.types.bundle import Bundle, BundleItem

MARK = "■"


def mark_sign(bundle: "Bundle", *items: "BundleItem") -> str:
    """Return the sign after the name of something that is marked; empty if it is not."""
    places = {item.place for item in items}
    return f" {MARK}" if any(item.place in places for item in bundle.items) else ""
