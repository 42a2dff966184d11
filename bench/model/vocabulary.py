"""Train the tokenizer on the mined code: whole words of identifiers, no punctuation.

python bench/model/vocabulary.py
"""

from collections.abc import Iterator

from dataset import load_training_pairs
from sources import DATA
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece
from tokenizers.trainers import WordPieceTrainer

SIZE = 46_000
SEEN = 220_000
# camelCase, ABCWord and snake_case come apart; what is left is lower-case letters and digits.
_JOINTS = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_"
TOKENIZER = DATA / "tokenizer.json"


def main() -> None:
    """Train once; delete the file to train again."""
    if not TOKENIZER.exists():
        tokenizer = new_tokenizer()
        special = ["[PAD]", "[UNK]"]
        trainer = WordPieceTrainer(vocab_size=SIZE, min_frequency=4, special_tokens=special, limit_alphabet=300)
        tokenizer.train_from_iterator(_texts(), trainer)
        tokenizer.save(str(TOKENIZER))
    print(f"{Tokenizer.from_file(str(TOKENIZER)).get_vocab_size():,} tokens")


def new_tokenizer() -> Tokenizer:
    """Make an untrained tokenizer that splits text as this model reads it."""
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
