"""A model2vec model in a local folder, Keyhole's own or another; loaded when the first text is embedded."""

import json
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from keyhole.core.errors import AssetError

if TYPE_CHECKING:
    import numpy as np
    from model2vec import StaticModel
    from numpy.typing import NDArray


BUILTIN, NONE = "builtin", "none"
_LONGEST_HEADER = 1_000_000


@cache
def open_embedder(model: str) -> "StaticEmbedder | None":
    """Open the model that a setting names, the same one for all of this process; none for "none"."""
    if model == NONE:
        return None
    if model == BUILTIN:
        return StaticEmbedder(Path(str(files("keyhole.assets").joinpath("model"))), name="keyhole")
    return StaticEmbedder(Path(model))


class StaticEmbedder:
    """Embeds with `StaticModel.from_pretrained(folder)`; a name that is not a folder is refused."""

    def __init__(self, folder: Path, *, name: str = "") -> None:
        self._folder = folder.expanduser()
        self._name = name or self._folder.name
        self._lock = Lock()
        # model2vec would take a missing folder for the name of a model to download.
        if not (self._folder / "model.safetensors").is_file():
            raise AssetError(f"there is no model2vec model in {folder}; set index.model to a folder that holds one")

    @property
    def name(self) -> str:
        """The model's name, and a hash of its vectors."""
        return f"{self._name}-{self._digest}"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has, read from the file's header: a run without news loads no model."""
        dimension = self._read_dimension()
        if dimension % 8:
            raise AssetError(f"the model in {self._folder} has {dimension} dimensions; a multiple of 8 is needed")
        return dimension

    def load(self) -> None:
        """Load the model, unless it is loaded."""
        with self._lock:
            self._model  # noqa: B018  # the first look loads it

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text."""
        with self._lock:
            return self._model.encode(list(texts), max_length=None, use_multiprocessing=False)

    def _read_dimension(self) -> int:
        try:
            with (self._folder / "model.safetensors").open("rb") as stream:
                length = int.from_bytes(stream.read(8), "little")
                header = json.loads(stream.read(min(length, _LONGEST_HEADER)))
            return int(header["embeddings"]["shape"][1])
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise AssetError(f"the model in {self._folder} cannot be loaded: {error}") from error

    @cached_property
    def _digest(self) -> str:
        from hashlib import file_digest

        with (self._folder / "model.safetensors").open("rb") as stream:
            return file_digest(stream, "blake2b").hexdigest()[:8]

    @cached_property
    def _model(self) -> "StaticModel":
        from model2vec import StaticModel

        try:
            return StaticModel.from_pretrained(self._folder)
        except Exception as error:
            raise AssetError(f"the model in {self._folder} cannot be loaded: {error}") from error
