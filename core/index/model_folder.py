"""The common base of models in local folders: name, dimension and loading."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from keyhole.core.errors import AssetError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUILTIN = "builtin"
_MAX_HEADER_BYTES = 1_000_000


@cache
def open_once(kind: type["ModelFolder"], folder: Path, name: str) -> "ModelFolder":
    """Open a model that the whole process shares."""
    return kind(folder, name=name)


class ModelFolder(ABC):
    """A model whose name and dimension are known without loading it; unpickling it calls `open_once`."""

    # Describes how texts become vectors. It is part of the model's hash: any change embeds every file again.
    reading = ""

    def __init__(self, folder: Path, *, name: str = "") -> None:
        self._folder = folder
        self._name = name or folder.name
        self._lock = Lock()
        # If the folder is missing, model2vec treats its path as the name of a model to download.
        if not (folder / "model.safetensors").is_file():
            raise AssetError(
                f"no model2vec model in {folder}; set index.model to a folder that contains one, or to {BUILTIN}"
            )

    def __reduce__(self) -> tuple[Callable[..., "ModelFolder"], tuple[type["ModelFolder"], Path, str]]:
        return open_once, (type(self), self._folder, self._name)

    @property
    def name(self) -> str:
        """The model's name, and a hash of its vectors."""
        return f"{self._name}-{self._digest}"

    @property
    def dimension(self) -> int:
        """The length of a vector, read from the file's header so that a run without changes loads no model."""
        dimension = self._read_dimension()
        if dimension % 8:
            raise AssetError(f"the model in {self._folder} has {dimension:,} dimensions; must be a multiple of 8")
        return dimension

    def _read_dimension(self) -> int:
        try:
            with (self._folder / "model.safetensors").open("rb") as stream:
                length = int.from_bytes(stream.read(8), "little")
                header = json.loads(stream.read(min(length, _MAX_HEADER_BYTES)))
            return int(header["embeddings"]["shape"][1])
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise AssetError(f"the model in {self._folder} cannot be loaded: {error}") from error

    @abstractmethod
    def load(self) -> None:
        """Load the model if it is not loaded yet."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text."""

    @cached_property
    def _digest(self) -> str:
        from hashlib import file_digest

        with (self._folder / "model.safetensors").open("rb") as stream:
            digest = file_digest(stream, "blake2b")
        digest.update(self.reading.encode())
        return digest.hexdigest()[:8]
