"""The tokenizer: whole words of identifiers, no punctuation.

    python bench/model/vocabulary.py          # the tokenizer of the builtin model
    python bench/model/vocabulary.py --new    # one trained on the mined code

The trainer breaks ties at random: about 35 of 46,000 tokens, rare letters of other scripts, differ between two runs.
To reproduce the same model, use the tokenizer of the builtin one.
"""

import argparse
import shutil
from collections.abc import Iterator

from dataset import load_training_pairs
from sources import DATA, HERE
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece
from tokenizers.trainers import WordPieceTrainer

SIZE = 46_000
SEEN = 220_000
# Splits camelCase, ABCWord and snake_case; the parts are lower-case letters and digits.
_JOINTS = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_"
TOKENIZER = DATA / "tokenizer.json"
SHIPPED = HERE.parent.parent / "assets" / "model" / "tokenizer.json"


def main() -> None:
    """Copy or train the tokenizer, unless the file exists; delete it to do so again."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--new", action="store_true", help="train one on the mined code")
    is_new = options.parse_args().new
    if not TOKENIZER.exists() and not is_new:
        shutil.copyfile(SHIPPED, TOKENIZER)
    elif not TOKENIZER.exists():
        tokenizer = new_tokenizer()
        special = ["[PAD]", "[UNK]"]
        trainer = WordPieceTrainer(vocab_size=SIZE, min_frequency=4, special_tokens=special, limit_alphabet=300)
        tokenizer.train_from_iterator(_texts(), trainer)
        tokenizer.save(str(TOKENIZER))
    print(f"{Tokenizer.from_file(str(TOKENIZER)).get_vocab_size():,} tokens")


def new_tokenizer() -> Tokenizer:
    """Return an untrained tokenizer that splits text as this model does."""
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]", max_input_chars_per_word=64))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_JOINTS), " "),
            normalizers.NFD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\p{L}+|\p{N}+"), "removed", invert=True)
    return tokenizer


def _texts() -> Iterator[str]:
    for pair in load_training_pairs(with_comments=False)[:SEEN]:
        yield pair["doc"]
        yield pair["code"][:1_500]


if __name__ == "__main__":
    main()
