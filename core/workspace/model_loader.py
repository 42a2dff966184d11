"""The model of a workspace: the one its settings name, or why there is none."""

from functools import cached_property
from typing import TYPE_CHECKING

from keyhole.core.errors import AssetError

if TYPE_CHECKING:
    from keyhole.core.index.embedder import Embedder


class ModelLoader:
    """Opens the model when it is first asked for; searching by words needs none."""

    def __init__(self, setting: str) -> None:
        self._setting = setting

    @property
    def embedder(self) -> "Embedder | None":
        """The model, if it can be had without a download."""
        return self._opened[0]

    @property
    def problem(self) -> str:
        """Why there is no model although one is wanted."""
        return self._opened[1]

    def download(self) -> None:
        """Have the model here, also when it must be downloaded."""
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
