"""Models in local folders: Keyhole's own or any model2vec model; loaded when the first text is embedded."""

import os
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.errors import ModelError
from keyhole.core.index.embedder import Embedder, Encoded, quantise, token_type_of
from keyhole.core.index.model_folder import BUILTIN, VECTORS_FILE, ModelFolder, ModelOrigin, open_once
from keyhole.core.index.single_threaded import single_threaded

if TYPE_CHECKING:
    import numpy as np
    from model2vec import StaticModel
    from numpy.typing import NDArray


NONE, HUB = "none", "hub:"
_REINSTALL = "reinstall keyhole"


def open_embedder(model: str, *, may_download: bool = False) -> Embedder | None:
    """Open the model that a setting names, once per process; None for "none"."""
    if model == NONE:
        return None
    if model == BUILTIN:
        from keyhole.core.index.word_model import WordEmbedder

        return open_once(WordEmbedder, ModelOrigin(_builtin_folder(), "keyhole", "the builtin model", _REINSTALL))
    if model.startswith(HUB):
        return open_once(StaticEmbedder, _from_hub(model.removeprefix(HUB), may_download=may_download))
    return open_once(StaticEmbedder, from_folder(Path(os.path.expanduser(model))))  # noqa: PTH111  # never raises


def from_folder(folder: Path) -> ModelOrigin:
    """Return a folder as the origin of a model."""
    return ModelOrigin(folder, folder.name, f"the model {folder.name}", "repair its folder, or change index.model")


def _builtin_folder() -> Path:
    return Path(str(files("keyhole.assets").joinpath("model")))


def _from_hub(name: str, *, may_download: bool) -> ModelOrigin:
    """Return the local copy of a model from the hub; once downloaded, it is never checked for updates."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ImportError as error:
        text = f"the model {name} needs the extra models, which is not installed"
        raise ModelError(text, "run pip install 'keyhole[models]', or change index.model") from error

    def path_of(part: str) -> Path:
        try:
            return Path(hf_hub_download(name, part, local_files_only=True))
        except LocalEntryNotFoundError as error:
            if may_download:
                return Path(hf_hub_download(name, part))
            raise ModelError(f"the model {name} has not been downloaded yet", "run keyhole index") from error

    try:
        *_, model = [path_of(part) for part in ("config.json", "tokenizer.json", VECTORS_FILE)]
    except ModelError:
        raise
    except Exception as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        remedy = "check the connection and the name in index.model, then run keyhole index"
        raise ModelError(f"the model {name} could not be downloaded ({reason})", remedy) from error
    folder = model.parent
    # The hub's folder of a model holds snapshots/<commit>/, whose files are links. Only without all of it is the model
    # downloaded again.
    remedy = f"delete {folder.parent.parent.name} from the hub's cache, then run keyhole index"
    return ModelOrigin(folder, name, f"the model {name}", remedy)


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

    @property
    def token_type(self) -> str:
        """The type of token ids in the index, for numpy."""
        with self._lock, single_threaded():
            return token_type_of(len(self._model.tokens))

    def encode_with_tokens(self, texts: Sequence[str]) -> Encoded:
        """Return the vector and the distinct tokens of each text."""
        import numpy as np

        vectors, kind = self.encode(texts), self.token_type
        with self._lock, single_threaded():
            tokens = [np.unique(ids).astype(kind) for ids in self._model.tokenize(list(texts))]
            weights = self._model.weights
        # A token without weight is in no vector.
        return Encoded(vectors, tokens if weights is None else [ids[weights[ids] != 0] for ids in tokens])

    def token_vectors(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.int8]":
        """Return the directions of the vectors of these tokens, as rows of whole numbers from -127 to 127."""
        import numpy as np

        vectors = self._weighted_vectors(tokens)
        return np.frombuffer(b"".join(small for _, small in quantise(vectors)), np.int8).reshape(vectors.shape)

    def token_weights(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.float32]":
        """Return the lengths of the vectors of these tokens: models weight them by rarity."""
        import numpy as np

        lengths: NDArray[np.float32] = np.linalg.norm(self._weighted_vectors(tokens), axis=1)
        return lengths

    def _weighted_vectors(self, tokens: "NDArray[np.unsignedinteger]") -> "NDArray[np.float32]":
        import numpy as np

        with self._lock, single_threaded():
            model = self._model
        rows = tokens if model.token_mapping is None else model.token_mapping[tokens]
        vectors: NDArray[np.float32] = model.embedding[rows].astype(np.float32)
        return vectors if model.weights is None else vectors * model.weights[tokens, None].astype(np.float32)

    @cached_property
    def _model(self) -> "StaticModel":
        from model2vec import StaticModel

        with self._explained():
            model = StaticModel.from_pretrained(self._folder)
            _check_numbers(model)
        return model


def _check_numbers(model: "StaticModel") -> None:
    """Raise ValueError if the numbers can't be used: model2vec would fail, or give no result, for some texts only."""
    import numpy as np

    tokens, mapping, weights = len(model.tokens), model.token_mapping, model.weights
    # If one number is not finite, neither is the sum.
    if not np.isfinite(model.embedding.sum(dtype=np.float32)):
        raise ValueError("its vectors contain NaN or infinity")
    if weights is not None and (len(weights) < tokens or not np.isfinite(weights.sum(dtype=np.float32))):
        raise ValueError("its weights are damaged")
    if mapping is not None and (len(mapping) < tokens or mapping.min() < 0 or mapping.max() >= len(model.embedding)):
        raise ValueError("its mapping of tokens is damaged")
