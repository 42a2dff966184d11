"""Related code: by meaning or by words, for a line or a symbol, and its notes."""

from pathlib import Path
from typing import Any

import pytest
from relating import facts, open_service, put
from vault import write_vault

from keyhole.core.links.requests import RelatedRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.core.types.view_requests import Query


def related(service: Service, **asked: Any) -> list[str]:
    return [result["file_path"] for result in facts(service, RelatedRequest(**asked))["results"]]


def test_related_code_by_meaning(tmp_path: Path, model_folder: Path) -> None:
    root = tmp_path / "project"
    put(root, {f"{name}.py": f"# {words}\n" for name, words in MEANINGS.items()})
    filler = "    x = 1\n" * 200
    put(root, {"many.py": "".join(f"def f{n}():\n    # paint draw\n{filler}" for n in range(12))})
    service = open_service(root, **{"index.model": str(model_folder)})
    assert "by meaning" in service.relation_view(RelatedRequest("a.py")).text
    assert related(service, path="a.py")[0] == "b.py"
    assert related(service, path="c.py")[0] == "d.py"
    everything = related(service, path="e.py")
    assert "e.py" not in everything
    assert everything.count("many.py") == 3


MEANINGS = {"a": "retry", "b": "backoff again", "c": "parse", "d": "syntax read", "e": "paint", "f": "colour"}


def test_related_code_by_words_says_so(acme: Service) -> None:
    view = acme.relation_view(RelatedRequest("src/acme/handlers/paid.py", 4, detail_level=Detail.MINIMAL))
    assert (
        "Note: code similar to src/acme/handlers/paid.py:4, found by shared words, since this index has no vectors"
        in view.text
    )
    paths = related(acme, path="src/acme/handlers/paid.py", line=4)
    assert "src/acme/handlers/paid.py" not in paths
    assert len(paths) >= 5
    assert all("handlers" in path for path in paths[:5])


def test_related_code_says_that_there_is_more_than_it_looks_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = open_service(write_vault(tmp_path / "vault", notes=300, links=2_400, hub_links=180))
    assert "only the nearest" not in vault.relation_view(RelatedRequest("Hub.md")).text
    monkeypatch.setattr("keyhole.core.search.related_code._POOL", 30)
    total = facts(vault, RelatedRequest("Hub.md"))["total_count"]
    assert total < 30
    assert f"Note: only the {total:,} most similar are listed.\n" in vault.relation_view(RelatedRequest("Hub.md")).text


def test_notes_on_related_code_are_whole_whatever_the_path(tmp_path: Path) -> None:
    deep = "/".join(["a-folder-with-a-name"] * 5)
    put(tmp_path / "w", {f"{deep}/a.md": "# Words\n"})
    note, *_ = facts(open_service(tmp_path / "w"), RelatedRequest(f"{deep}/a.md"))["notes"]
    assert note.startswith("code similar to a-folder-with-a-name")
    assert note.endswith("/a.md:1, found by shared words, since this index has no vectors")


def test_related_code_of_a_symbol_is_that_of_its_lines(acme: Service) -> None:
    by_symbol = related(acme, symbol="handle_paid")
    assert by_symbol
    assert by_symbol == related(acme, path="src/acme/handlers/paid.py", line=4)
    assert acme.search(Query("handle_paid")).hits[0].path not in by_symbol
