"""Models in local folders: Keyhole's own or any model2vec model; loaded when the first text is embedded."""

from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.errors import AssetError, ErrorKind
from keyhole.core.index.embedder import Embedder
from keyhole.core.index.model_folder import BUILTIN, ModelFolder, open_once
from keyhole.core.index.single_threaded import single_threaded

if TYPE_CHECKING:
    import numpy as np
    from model2vec import StaticModel
    from numpy.typing import NDArray


NONE, HUB = "none", "hub:"


def open_embedder(model: str, *, may_download: bool = False) -> Embedder | None:
    """Open the model that a setting names, once per process; None for "none"."""
    if model == NONE:
        return None
    if model == BUILTIN:
        from keyhole.core.index.word_model import WordEmbedder

        return open_once(WordEmbedder, Path(str(files("keyhole.assets").joinpath("model"))), "keyhole")
    if model.startswith(HUB):
        name = model.removeprefix(HUB)
        return open_once(StaticEmbedder, _folder_from_hub(name, may_download=may_download), name)
    return open_once(StaticEmbedder, Path(model).expanduser(), "")


def _folder_from_hub(name: str, *, may_download: bool) -> Path:
    """Return the local folder of a model from the hub; once downloaded, it is never checked for updates."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    def path_of(part: str) -> Path:
        try:
            return Path(hf_hub_download(name, part, local_files_only=True))
        except LocalEntryNotFoundError as error:
            if may_download:
                return Path(hf_hub_download(name, part))
            raise AssetError(f"the model {name} has not been downloaded yet", ErrorKind.MISSING_MODEL) from error

    try:
        *_, model = [path_of(part) for part in ("config.json", "tokenizer.json", "model.safetensors")]
    except AssetError:
        raise
    except Exception as error:
        raise AssetError(f"the model {name} could not be downloaded: {str(error).splitlines()[0]}") from error
    return model.parent


class StaticEmbedder(ModelFolder):
    """A model2vec model in a folder."""

    def load(self) -> None:
        """Load the model if it is not loaded yet."""
        with self._lock, single_threaded():
            self._model  # noqa: B018  # the first access loads it

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row per text."""
        with self._lock, single_threaded():
            return self._model.encode(list(texts), max_length=None, use_multiprocessing=False)

    @cached_property
    def _model(self) -> "StaticModel":
        from model2vec import StaticModel

        try:
            return StaticModel.from_pretrained(self._folder)
        except Exception as error:
            raise AssetError(f"the model in {self._folder} cannot be loaded: {error}") from error
