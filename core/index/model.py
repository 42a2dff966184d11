"""Models in local folders: Keyhole's own, or any other of model2vec's; loaded when the first text is embedded."""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from keyhole.core.errors import AssetError
from keyhole.core.index.embedder import Embedder

if TYPE_CHECKING:
    import numpy as np
    from model2vec import StaticModel
    from numpy.typing import NDArray


# Texts are embedded by the hundred, on every core at once: threads below that only wait for each other.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BUILTIN, NONE, HUB = "builtin", "none", "hub:"
_LONGEST_HEADER = 1_000_000


def open_embedder(model: str, *, may_download: bool = False) -> Embedder | None:
    """Open the model that a setting names, the same one for all of this process; none for "none"."""
    if model == NONE:
        return None
    if model == BUILTIN:
        from keyhole.core.index.word_model import WordEmbedder

        return open_once(WordEmbedder, Path(str(files("keyhole.assets").joinpath("model"))), "keyhole")
    if model.startswith(HUB):
        name = model.removeprefix(HUB)
        return open_once(StaticEmbedder, _folder_from_hub(name, may_download=may_download), name)
    return open_once(StaticEmbedder, Path(model).expanduser(), "")


@cache
def open_once(kind: type["ModelFolder"], folder: Path, name: str) -> "ModelFolder":
    """Open a model that all of this process shares."""
    return kind(folder, name=name)


def _folder_from_hub(name: str, *, may_download: bool) -> Path:
    """Return the folder that holds a model of the hub; what was downloaded once is never looked up again."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    def path_of(part: str) -> Path:
        try:
            return Path(hf_hub_download(name, part, local_files_only=True))
        except LocalEntryNotFoundError as error:
            if may_download:
                return Path(hf_hub_download(name, part))
            raise AssetError(f"the model {name} is not here yet; keyhole index downloads it") from error

    try:
        *_, model = [path_of(part) for part in ("config.json", "tokenizer.json", "model.safetensors")]
    except AssetError:
        raise
    except Exception as error:
        raise AssetError(f"the model {name} cannot be had from the hub: {str(error).splitlines()[0]}") from error
    return model.parent


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

    def __reduce__(self) -> tuple[Any, ...]:
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


class StaticEmbedder(ModelFolder):
    """Embeds with `StaticModel.from_pretrained(folder)`."""

    def load(self) -> None:
        """Load the model, unless it is loaded."""
        with self._lock:
            self._model  # noqa: B018  # the first look loads it

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text."""
        with self._lock:
            return self._model.encode(list(texts), max_length=None, use_multiprocessing=False)

    @cached_property
    def _model(self) -> "StaticModel":
        from model2vec import StaticModel

        try:
            return StaticModel.from_pretrained(self._folder)
        except Exception as error:
            raise AssetError(f"the model in {self._folder} cannot be loaded: {error}") from error
