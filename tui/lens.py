"""Looking at an answer as a client's model gets to see it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keyhole.core.clients import RAW, Delivery, Profile, deliver, profiles
from keyhole.core.view.text import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Lens:
    """One client; `raw` shows what was sent."""

    profile: Profile

    @property
    def is_raw(self) -> bool:
        """Whether it changes nothing."""
        return self.profile.id == RAW

    def next(self, step: int) -> "Lens":
        """Return the next client, around in a circle."""
        all_ids = list(profiles())
        return lens(all_ids[(all_ids.index(self.profile.id) + step) % len(all_ids)])

    def see(self, text: str) -> Delivery:
        """Do to a text what the client does to it."""
        return deliver(text, self.profile)


def lens(name: str = RAW) -> Lens:
    """Return the lens of a client."""
    return Lens(profiles()[name])


def lens_text(seen: Lens, delivery: Delivery, costs: "Mapping[str, int] | None") -> str:
    """Say what survives on the way to a client's model, and what our tools cost it before the first question."""
    title = seen.profile.title
    if delivery.overflow:
        what = f"▲ {delivery.note}"
    elif seen.profile.answer is None:
        what = f"● {title} publishes no limit; all of it is {count_of(delivery.tokens, 'token')} to its model"
    else:
        what = f"● {title} delivers all of it: {count_of(delivery.tokens, 'token')} to its model"
    cost = f" · our tools cost it {count_of(costs[seen.profile.id], 'token')}" if costs else ""
    return what + cost
