"""The embedding model of a workspace: the one named in the settings, or the reason why there is none."""

from functools import cached_property
from typing import TYPE_CHECKING

from keyhole.core.errors import ModelError

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
    def problem(self) -> ModelError | None:
        """Why the configured model is not available, if it is not."""
        return self._opened[1]

    def find_problem(self) -> ModelError | None:
        """Load the model, and return why it can't be used; None if it can, or if the settings disable it."""
        try:
            if self.embedder:
                self.embedder.load()
        except ModelError as error:
            return error
        return self.problem

    def download(self) -> None:
        """Open the model, downloading it if necessary."""
        self._opened = self._open(may_download=True)

    @cached_property
    def _opened(self) -> "tuple[Embedder | None, ModelError | None]":
        return self._open(may_download=False)

    def _open(self, *, may_download: bool) -> "tuple[Embedder | None, ModelError | None]":
        from keyhole.core.index.model import open_embedder

        try:
            return open_embedder(self._setting, may_download=may_download), None
        except ModelError as error:
            return None, error
