"""The client lens: an answer as a client delivers it to its model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keyhole.core.clients import RAW, Profile, profile_tokens, profiles, room_for
from keyhole.core.config import Settings
from keyhole.core.delivery import Delivery, deliver
from keyhole.core.view.text import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Lens:
    """Holds the client an answer is viewed as; `raw` shows the answer as sent."""

    profile: Profile

    @property
    def is_raw(self) -> bool:
        """Whether answers are shown as sent."""
        return self.profile.id == RAW

    def next(self, step: int) -> "Lens":
        """Return the lens of the next client; after the last comes the first."""
        all_ids = list(profiles())
        return lens(all_ids[(all_ids.index(self.profile.id) + step) % len(all_ids)])

    def budget(self, settings: Settings) -> int:
        """Return the tokens of an answer to the client if it asks for none, whatever it delivers."""
        return profile_tokens(self.profile, settings)

    def see(self, text: str) -> Delivery:
        """Return a text as the client delivers it."""
        return deliver(text, self.profile)


def lens(name: str = RAW) -> Lens:
    """Return the lens of a client."""
    return Lens(profiles()[name])


def lens_text(lens: Lens, delivery: Delivery, costs: "Mapping[str, int] | None", budget: int) -> str:
    """Return the line on what a client delivers of an answer, its budget, and what Keyhole's tools cost it."""
    title = lens.profile.title
    if delivery.overflow:
        what = f"▲ {delivery.note}"
    elif lens.profile.answer is None:
        what = f"● No limit is known for {title}: the full answer is {count_of(delivery.tokens, 'token')}"
    else:
        what = f"● {title} delivers the full answer: {count_of(delivery.tokens, 'token')}"
    cost = f" · tool definitions: {count_of(costs[lens.profile.id], 'token')}" if costs else ""
    room = room_for(lens.profile)
    fits = ", ".join([count_of(budget, "token"), *(room.limit_texts if room else [])])
    return f"{what} · answers made for it fit {fits}{cost}"
