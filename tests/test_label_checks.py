"""bench/check_labels.py finds labels that do not fit their kind; the labels as a set are complete."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "bench"))
from check_labels import check_projects, check_query, check_sets  # found through the line above
from corpus import Answer, Query, load_projects, load_queries

FILES = {
    "shop/cart.py": "class Cart:\n    def add(self, item):\n        raise ValueError('cart is full')\n",
    "shop/stock.go": "func (s *Shelf) Add(item Item) {\n\tpanic(full)\n}\n",
    "shop/till.h": "class Till {\npublic:\n    int change;\nprivate:\n    void Clear() {\n    }\n};\n",
    "shop/parse.hs": "parse :: String -> Int\nparse = length\n",
    "shop/tree.rs": "impl<T: Into<Leaf>> Tree<T> {\n    fn walk() {}\n}\nimpl Show for Tree {\n    fn show() {}\n}\n",
    "tests/test_cart.py": "# cart is full\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def problems(root: Path, kind: str, query: str, *places: tuple[str, int, int]) -> list[str]:
    answers = [Answer(path=path, start_line=start, end_line=end) for path, start, end in places]
    return list(check_query(Query(project="shop", kind=kind, query=query, answers=answers), root))


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("cart add", ("shop/cart.py", 2, 3)),
        ("shop add", ("shop/cart.py", 2, 3)),
        ("Shelf Add", ("shop/stock.go", 1, 3)),
        ("stock add", ("shop/stock.go", 1, 3)),
        ("till clear", ("shop/till.h", 5, 6)),
        ("parse parse", ("shop/parse.hs", 1, 2)),
        ("Tree walk", ("shop/tree.rs", 2, 2)),
        ("tree show", ("shop/tree.rs", 5, 5)),
    ],
)
def test_a_member_belongs_to_its_type_file_or_folder(root: Path, query: str, place: tuple[str, int, int]) -> None:
    assert problems(root, "owner member", query, place) == []


def test_a_member_of_another_owner_is_found(root: Path) -> None:
    assert problems(root, "owner member", "till add", ("shop/cart.py", 2, 3)) == [
        "names another owner than shop/cart.py:2 has"
    ]
    assert problems(root, "owner member", "cart remove", ("shop/cart.py", 2, 3)) == [
        "is not declared at shop/cart.py:2"
    ]


def test_an_exact_text_is_quoted_and_all_its_places_are_answers(root: Path) -> None:
    source, test = ("shop/cart.py", 3, 3), ("tests/test_cart.py", 1, 1)
    assert problems(root, "exact text", '"cart is full"', source, test) == []
    assert problems(root, "exact text", '"cart is full"', source) == ["also occurs at tests/test_cart.py:1"]
    assert problems(root, "exact text", '"till is full"', source) == ["does not occur at shop/cart.py:3"]
    assert problems(root, "exact text", "raise ValueError", source) == ["has no quotes around it"]


def test_plain_words_share_no_name_with_a_declaration_in_any_language(root: Path) -> None:
    assert problems(root, "behaviour", "parse the text", ("shop/parse.hs", 1, 2)) == [
        "shares parse with shop/parse.hs:1"
    ]
    assert problems(root, "behaviour", "empty the till", ("shop/till.h", 5, 6)) == ["shares till with shop/till.h:5"]


def test_half_of_the_projects_are_held_out() -> None:
    projects = load_projects()
    assert list(check_projects(projects)) == []
    assert list(check_projects([{**project, "split": "tune"} for project in projects])) == [
        f"not half of the projects are held out: {{'tune': {len(projects)}}}"
    ]


def test_there_are_enough_labels_of_each_kind_and_project() -> None:
    assert list(check_sets(load_queries(), load_projects())) == []
