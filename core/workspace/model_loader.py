"""The embedding model of a workspace: the one named in the settings, or the reason why there is none."""

from functools import cached_property
from typing import TYPE_CHECKING

from keyhole.core.errors import AssetError

if TYPE_CHECKING:
    from keyhole.core.index.embedder import Embedder


class ModelLoader:
    """Opens the model on first use; keyword search does not need it."""

    def __init__(self, setting: str) -> None:
        self._setting = setting

    @property
    def embedder(self) -> "Embedder | None":
        """The model, if it is available without a download."""
        return self._opened[0]

    @property
    def problem(self) -> str:
        """Why the configured model is not available; empty if it is."""
        return self._opened[1]

    def download(self) -> None:
        """Open the model, downloading it if necessary."""
        self._opened = self._open(may_download=True)

    @cached_property
    def _opened(self) -> "tuple[Embedder | None, str]":
        return self._open(may_download=False)

    def _open(self, *, may_download: bool) -> "tuple[Embedder | None, str]":
        from keyhole.core.index.model import open_embedder

        try:
            return open_embedder(self._setting, may_download=may_download), ""
        except AssetError as error:
            return None, str(error)
