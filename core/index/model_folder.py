"""The common base of models in local folders: name, dimension, loading, and what to do about damage."""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO

from keyhole.core.errors import ModelError
from keyhole.core.index.embedder import Encoded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUILTIN = "builtin"
VECTORS_FILE = "model.safetensors"
_MAX_HEADER_BYTES = 1_000_000
# What git-lfs leaves in place of a file that was not fetched.
_LFS_POINTER = b"version https://git-lfs"
_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True)
class ModelOrigin:
    """Where a model is from: its folder, how people call it, and what they can do if it is damaged."""

    folder: Path
    name: str
    label: str
    remedy: str


@cache
def open_once(kind: type["ModelFolder"], origin: ModelOrigin) -> "ModelFolder":
    """Open a model that the whole process shares."""
    return kind(origin)


class ModelFolder(ABC):
    """A model whose name and dimension are known without loading it; unpickling it calls `open_once`."""

    # Describes how texts become vectors. It is part of the model's hash: any change embeds every file again.
    reading = ""

    def __init__(self, origin: ModelOrigin) -> None:
        self._origin = origin
        self._folder = origin.folder
        self._lock = Lock()
        # Damage that the header shows is found here, and not only when the first text is embedded. This also keeps
        # model2vec from taking the path of a missing folder for the name of a model to download.
        self.dimension  # noqa: B018

    def __reduce__(self) -> tuple[Callable[..., "ModelFolder"], tuple[type["ModelFolder"], ModelOrigin]]:
        return open_once, (type(self), self._origin)

    @property
    def name(self) -> str:
        """The model's name, and a hash of its vectors."""
        with self._explained():
            return f"{self._origin.name}-{self._digest}"

    @property
    def dimension(self) -> int:
        """The length of a vector, read from the file's header so that a run without changes loads no model."""
        with self._explained():
            dimension = self._read_dimension()
        if not dimension or dimension % 8:
            raise self._error(f"has {dimension:,} dimensions, which is not a multiple of 8")
        return dimension

    def _read_dimension(self) -> int:
        with (self._folder / VECTORS_FILE).open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            header = _read_header(stream, size)
        if "embeddings" not in header:
            raise ValueError(f"{VECTORS_FILE} has no tensor named embeddings")
        match header["embeddings"]:
            case {"shape": [int(), int(dimension)]}:
                return dimension
        raise ValueError(f"the tensor embeddings in {VECTORS_FILE} is not a table of vectors")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise any error as damage of this model: a damaged file can cause every kind of error."""
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            problem = _problem_of(self._folder, error)
            raise self._error(f"can't be loaded ({problem})") from error

    def _error(self, problem: str) -> ModelError:
        return ModelError(f"{self._origin.label} {problem}", self._origin.remedy)

    @abstractmethod
    def load(self) -> None:
        """Load the model if it is not loaded yet."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text."""

    @property
    @abstractmethod
    def token_type(self) -> str:
        """The type of token ids in the index, for numpy."""

    @abstractmethod
    def encode_with_tokens(self, texts: Sequence[str]) -> Encoded:
        """Return the vector and the distinct tokens of each text."""

    @abstractmethod
    def token_vectors(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.int8]":
        """Return the directions of the vectors of these tokens, as rows of whole numbers from -127 to 127."""

    @abstractmethod
    def token_weights(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.float32]":
        """Return how much each token counts in a text: common words little, rare ones much."""

    @cached_property
    def _digest(self) -> str:
        from hashlib import file_digest

        with (self._folder / VECTORS_FILE).open("rb") as stream:
            digest = file_digest(stream, "blake2b")
        digest.update(self.reading.encode())
        return digest.hexdigest()[:8]


def _problem_of(folder: Path, error: Exception) -> str:
    """Return what is wrong with the files of a model; the libraries rarely say which file they failed on."""
    for name in (VECTORS_FILE, "tokenizer.json", "config.json"):
        try:
            text = (folder / name).read_bytes()
        except FileNotFoundError:
            return f"{name} is missing"
        except OSError as unreadable:
            return f"{name}: {unreadable.strerror}"
        if text.startswith(_LFS_POINTER):
            return f"{name} is a git-lfs pointer"
        if not name.endswith(".json"):
            continue
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return f"{name} is not valid JSON"
    return " ".join(str(error).split()) or type(error).__name__


def _read_header(stream: BinaryIO, size: int) -> dict[str, object]:
    """Return the header of a safetensors file, or say why the file is not one."""
    start = stream.read(len(_LFS_POINTER))
    length = int.from_bytes(start[:_LENGTH_BYTES], "little")
    if not size or length > _MAX_HEADER_BYTES:
        raise ValueError(f"{VECTORS_FILE} is {'not a safetensors file' if size else 'empty'}")
    stream.seek(_LENGTH_BYTES)
    try:
        header = dict(json.loads(stream.read(length)))
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"{VECTORS_FILE} has a damaged header") from None
    whole = _LENGTH_BYTES + length + max(map(_end_of, header.values()), default=0)
    if size < whole:
        raise ValueError(f"{VECTORS_FILE} is truncated: {size:,} of {whole:,} bytes")
    return header


def _end_of(entry: object) -> int:
    """Return where the data of a tensor ends; 0 for an entry that is no tensor."""
    match entry:
        case {"data_offsets": [int(), int(end)]}:
            return end
    return 0
