"""What every model in a local folder has in common: its name, its dimension, and how it is loaded."""

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
_LONGEST_HEADER = 1_000_000


@cache
def open_once(kind: type["ModelFolder"], folder: Path, name: str) -> "ModelFolder":
    """Open a model that all of this process shares."""
    return kind(folder, name=name)


class ModelFolder(ABC):
    """What is known of a model without loading it; a process that unpickles it gets its own, from `open_once`."""

    # How texts become vectors; what changes this makes other vectors of the same model.
    reading = ""

    def __init__(self, folder: Path, *, name: str = "") -> None:
        self._folder = folder
        self._name = name or folder.name
        self._lock = Lock()
        # model2vec would take a missing folder for the name of a model to download.
        if not (folder / "model.safetensors").is_file():
            raise AssetError(
                f"there is no model2vec model in {folder}; set index.model to a folder that holds one, or to {BUILTIN}"
            )

    def __reduce__(self) -> tuple[Callable[..., "ModelFolder"], tuple[type["ModelFolder"], Path, str]]:
        return open_once, (type(self), self._folder, self._name)

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

    def _read_dimension(self) -> int:
        try:
            with (self._folder / "model.safetensors").open("rb") as stream:
                length = int.from_bytes(stream.read(8), "little")
                header = json.loads(stream.read(min(length, _LONGEST_HEADER)))
            return int(header["embeddings"]["shape"][1])
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise AssetError(f"the model in {self._folder} cannot be loaded: {error}") from error

    @abstractmethod
    def load(self) -> None:
        """Load the model, unless it is loaded."""

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
