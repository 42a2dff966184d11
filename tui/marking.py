"""What is marked for the context bundle: it is kept next to the index, and checked and measured by workers."""

from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from textual.app import App

from keyhole.core.errors import KeyholeError
from keyhole.core.types.bundle import Bundle, BundleItem, BundleRequest
from keyhole.core.view.bundles.bundle_file import MOST_ITEMS, lines_text
from keyhole.core.view.text import count_of, name_text
from keyhole.tui.background import run_in_thread
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.key_names import key_of
from keyhole.tui.messages import BundleMeasured, PartsChecked

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyhole.core.service import Service

_LONGEST_NAME = 60


def item_name(item: BundleItem, longest: int = _LONGEST_NAME) -> str:
    """Return what a part is called: its path, with its lines or its symbol."""
    lines = f":{lines_text(item)}" if item.first_line else ""
    symbol = f" {name_text(item.symbol, longest)}" if item.symbol else ""
    return f"{name_text(item.path, longest)}{lines}{symbol}"


class BundleHost(Protocol):
    """Holds what is marked, so that screens can watch it."""

    bundle: Bundle


class Marking:
    """Changes the bundle of an explorer."""

    def __init__(self, app: App[None], host: "BundleHost", service_of: "Callable[[], Service | None]") -> None:
        self._app = app
        self._host = host
        self._service_of = service_of
        # Workers may overlap, and the newest bundle must stay.
        self._writing = Lock()

    def load(self, service: "Service") -> None:
        """Take over what was marked before, and forget a file that can't be used."""
        try:
            self._host.bundle = bundle = service.marked_bundle()
        except KeyholeError as error:
            self._app.notify(f"Nothing is marked: {problem_text(error)}", severity="warning", markup=False)
        else:
            run_in_thread(self._app, partial(self._measure, service, bundle), "bundle")

    def toggle(self, *items: BundleItem) -> None:
        """Mark parts, or unmark them if all of them are marked."""
        marked = {item.place for item in self._host.bundle.items}
        if all(item.place in marked for item in items):
            self.remove(*items)
        elif service := self._service_of():
            new = [item for item in items if item.place not in marked]
            run_in_thread(self._app, partial(self._check, service, new), "mark")

    def _check(self, service: "Service", items: list[BundleItem]) -> None:
        """Read the files of new parts, in a worker: only what can be served is marked."""
        checked, problem = [], None
        for item in items:
            try:
                checked.append(replace(item, digest=service.read(item.path).digest))
            except KeyholeError as error:
                problem = error
        self._app.post_message(PartsChecked(checked, problem))

    def add(self, message: PartsChecked) -> None:
        """Mark parts that were checked."""
        if message.error:
            self._app.notify(problem_text(message.error), severity="error", markup=False)
        room = MOST_ITEMS - len(self._host.bundle.items)
        if len(message.items) > room:
            self._app.notify(f"A bundle has at most {MOST_ITEMS:,} parts.", severity="warning")
        if items := message.items[:room]:
            self._change((*self._host.bundle.items, *items))
            parts = count_of(len(self._host.bundle.items), "part")
            what = item_name(items[0]) if len(items) == 1 else count_of(len(items), "file")
            self._app.notify(f"Marked {what} · {parts} · {key_of('bundle')}: show the bundle", timeout=3, markup=False)

    def remove(self, *items: BundleItem) -> None:
        """Unmark parts."""
        places = {item.place for item in items}
        self._change(tuple(item for item in self._host.bundle.items if item.place not in places))
        what = item_name(items[0]) if len(items) == 1 else count_of(len(items), "file")
        self._app.notify(f"Unmarked {what}", timeout=3, markup=False)

    def clear(self) -> None:
        """Unmark everything."""
        self._change(())

    def set_budget(self, tokens: int) -> None:
        """Keep another budget with the bundle."""
        self._save(replace(self._host.bundle, max_tokens=tokens))

    def _change(self, items: tuple[BundleItem, ...]) -> None:
        self._save(replace(self._host.bundle, items=items))

    def _save(self, bundle: Bundle) -> None:
        self._host.bundle = bundle
        if service := self._service_of():
            run_in_thread(self._app, partial(self._write, service, bundle), "bundle")

    def _write(self, service: "Service", bundle: Bundle) -> None:
        """Write the bundle and measure it, in a worker."""
        try:
            with self._writing:
                if bundle is self._host.bundle:
                    service.keep_bundle(bundle)
        except KeyholeError as error:
            self._app.post_message(BundleMeasured(bundle, 0, error))
        self._measure(service, bundle)

    def _measure(self, service: "Service", bundle: Bundle) -> None:
        if not bundle.items:
            self._app.post_message(BundleMeasured(bundle, 0))
            return
        try:
            view = service.bundle_view(BundleRequest(bundle))
            self._app.post_message(BundleMeasured(bundle, view.truncation.estimated_tokens))
        except KeyholeError as error:
            self._app.post_message(BundleMeasured(bundle, 0, error))
