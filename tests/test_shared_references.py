"""References in many files: what files share, what they keep for themselves, and large files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from relating import facts, open_service, put

from keyhole.core.files.read import SourceReader
from keyhole.core.files.stamps import stamp_of
from keyhole.core.links.requests import ReferencesRequest
from keyhole.core.references import find
from keyhole.core.references.asked_symbol import asked_symbol
from keyhole.core.references.by_language.shared_names import SharedNames
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_table import NO_NAME, UNCLEAR, NameTable
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.references.open_names import opened_resolver
from keyhole.core.references.reference import Reference
from keyhole.core.service import Service
from keyhole.core.syntax.analyse import analyse
from keyhole.core.types.source_files import SourceFile

DEFINED = {
    "shop/till.py": "def pay():\n    return 1\n\n\nclass Till:\n    def count(self):\n        return 1\n",
    "other/till.py": "def pay():\n    return 2\n\n\nclass Till:\n    def count(self):\n        return 2\n",
}
# Each uses the same names in the same way; the lines above decide what they mean.
USES = "\n\ndef use(value):\n    pay()\n    Till.count(value)\n    value.count()\n    Till().count()\n"
BEFORE = {
    "here.py": "from shop.till import Till, pay\n",
    "again.py": "from shop.till import Till, pay\n",
    "lines.py": "from shop.till import (\n    Till,\n    pay,\n)\n",
    "star.py": "from shop.till import *\n",
    "elsewhere.py": "from other.till import Till, pay\n",
    "outside.py": "from bank import Till, pay\n",
    "own.py": "from shop.till import Till, pay\n\n\ndef pay():\n    return 3\n\n\nclass Till:\n    count = None\n",
}


# Parts of files, so that many files have some of them in common.
PYTHON_IMPORTS = (
    "from shop.till import Till, pay\n",
    "from other.till import pay\n",
    "from shop import till\nfrom shop.till import pay as settle\n",
    "from shop.till import *\n",
    "import shop.till\nfrom bank import Till\n",
    "",
)
PYTHON_BODIES = (
    USES,
    "\n\ndef renew():\n    global value\n    value = Till()\n    value.count()\n",
    "\n\ndef ask(till, value=Till()):\n    till.pay()\n    value.count()\n    return shop.till.pay()\n",
    "\n\ndef hold():\n    value = Till()\n    other = value.count()\n    return other.count(pay)\n",
    "\n\ndef late(value):\n    def inner():\n        value.count()\n        till.count()\n    return value.pay\n",
    "\n\ndef outer(value: Till):\n    global till\n    till = value\n    with pay() as value:\n        value.count()\n",
    "\n\nclass Own(Till):\n    value = 1\n    def count(self, value):\n        self.pay()\n        value.count()\n",
    "\n\nvalue = Till()\nvalue.count()\n[pay(value) for value in Till.count(value)]\nsettle()\n",
    "\n\ndef pay(value):\n    return value.count() + value.other.count() + make().count()\n",
)
SCRIPT_DEFINED = {
    "shop/till.js": "export function pay() {}\nexport class Till {\n  count() { return 1; }\n}\n",
    "other/till.js": "export function pay() {}\nexport class Till {\n  count() { return 2; }\n}\n",
}
SCRIPT_IMPORTS = (
    "import { pay, Till } from './shop/till.js';\n",
    "import { pay as settle, Till } from './other/till.js';\n",
    "import * as till from './shop/till.js';\n",
    "import { pay } from 'bank';\n",
    "",
)
SCRIPT_BODIES = (
    "function use(value) { pay(); Till.count(value); value.count(); new Till().count(); }\n",
    "const hold = () => { const value = new Till(); value.count(); till.pay(); };\n",
    "function late(value) { return (other) => { value.count(); other.count(value); }; }\n",
    "class Own extends Till { count(value) { this.pay(); super.count(); value.count(); } }\n",
    "let value = pay();\nvalue.count();\nsettle(value);\n",
)


def files_of(ending: str, imports: tuple[str, ...], bodies: tuple[str, ...]) -> st.SearchStrategy[dict[str, str]]:
    """Return files that each have some imports, and some uses in any order."""
    text = st.tuples(st.sampled_from(imports), st.lists(st.sampled_from(bodies), min_size=1, max_size=3))
    joined = text.map(lambda parts: parts[0] + "".join(parts[1]))
    return st.lists(joined, min_size=4, max_size=8).map(
        lambda texts: {f"file_{number}.{ending}": text for number, text in enumerate(texts)}
    )


def all_references(service: Service) -> dict[tuple[str, str], list[Reference]]:
    """Return every reference to each symbol that is defined twice in a language."""
    found = {}
    with service.engines.lend() as engine, engine.store.snapshot():
        for path in (*DEFINED, *SCRIPT_DEFINED):
            for symbol in ("pay", "Till", "Till.count"):
                asked = asked_symbol(engine.store, symbol, path, 0)
                with opened_resolver(engine.store) as resolver:
                    found[path, symbol] = find.references_to(resolver, asked.definition)
    return found


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(python=files_of("py", PYTHON_IMPORTS, PYTHON_BODIES), script=files_of("js", SCRIPT_IMPORTS, SCRIPT_BODIES))
def test_files_that_share_what_they_mean_have_the_same_references_as_each_by_itself(
    tmp_path_factory: pytest.TempPathFactory, python: dict[str, str], script: dict[str, str]
) -> None:
    root = tmp_path_factory.mktemp("shared") / "work"
    put(root, DEFINED | python | SCRIPT_DEFINED | script)
    service = open_service(root)
    shared = all_references(service)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find, "shared_uses", lambda *_: {})
        patch.setattr(SharedNames, "meanings", FileNames.meanings)
        alone = all_references(service)
    service.close()
    assert shared == alone
    assert any(shared.values())


def places(root: Path, symbol: str, path: str) -> dict[str, list[str]]:
    """Return the lines that refer to a symbol of a file as `role certainty`, by file."""
    service = open_service(root)
    found: dict[str, list[str]] = {}
    for one in facts(service, ReferencesRequest(symbol=symbol, path=path))["results"]:
        found.setdefault(one["file_path"], []).append(f"{one['role']} {one['certainty']}")
    service.close()
    return found


def test_files_with_the_same_uses_mean_what_their_own_imports_lead_to(tmp_path: Path) -> None:
    root = tmp_path / "work"
    put(root, DEFINED | {name: text + USES for name, text in BEFORE.items()})
    import_and_call = ["import certain", "call certain"]
    functions = places(root, "pay", "shop/till.py")
    assert functions == {
        "here.py": import_and_call,
        "again.py": import_and_call,
        "lines.py": import_and_call,
        "star.py": ["call certain"],
        "own.py": ["import certain"],
    }
    methods = places(root, "Till.count", "shop/till.py")
    known = ["call certain", "call by name", "call by name"]
    assert [methods[name] for name in ("here.py", "again.py", "lines.py", "star.py")] == [known] * 4
    assert methods["elsewhere.py"] == methods["outside.py"] == ["call by name", "call by name"]


def test_a_variable_of_known_type_is_not_taken_for_any_other(tmp_path: Path) -> None:
    root = tmp_path / "work"
    unknown = "def use(value):\n    value.count()\n"
    known = "from shop.till import Till\n\n\ndef use(value: Till):\n    value.count()\n"
    put(root, DEFINED | {"a.py": unknown, "b.py": known, "c.py": unknown})
    found = places(root, "Till.count", "shop/till.py")
    assert found == {"a.py": ["call by name"], "b.py": ["call likely"], "c.py": ["call by name"]}


@pytest.mark.parametrize(("names", "others"), [(3, 0), (300, 0), (3, 66_000)])
def test_records_of_any_size_are_read_as_they_were_written(names: int, others: int) -> None:
    gap = "\n" * names + "x\n" * others
    text = "".join(f"name_{number}.used()\n" for number in range(names)) + gap + "def last():\n    return name_1\n"
    analysis = analyse(SourceFile("a.py", len(text), 0, "", "", text))
    record = NamesInFile(analysis.occurrences)
    assert [record.line_at(place) for place in record.places("name_2")] == [3]
    used = record.places("used")
    assert [record.receiver_at(used[number]) for number in (2, names // 2, -1)] == [
        f"name_{number}" for number in (2, names // 2, names - 1)
    ]
    last = record.places("name_1")[-1]
    assert record.line_at(last) == names + gap.count("\n") + 2
    assert record.symbol_at(last) == record.symbol_named("last", names + gap.count("\n") + 1)
    # The same in another order.
    assert record.line_at(0) == 1


def test_a_table_of_many_files_has_the_same_names_as_each_file() -> None:
    end = "x.last()\n    make().last()\n    a.b.last()\n"
    # Columns of the second and third have numbers of two bytes.
    middles = ["y.z; ", "y.z; " * 300, "y.z\n" + "\n" * 300 + "    "]
    texts = [f"import a as b\ndef f(x):\n    {middle}{end}" for middle in middles]
    records = [analyse(SourceFile("a.py", len(text), 0, "", "", text)).occurrences for text in texts]
    table = NameTable(records)
    places = table.places_of(table.numbers_of("last"))
    found = zip(table.lines_at(places), table.receivers_at(places).tolist(), table.roles_at(places), strict=True)
    assert sorted(table.order) == [0, 1, 2]
    for number, (first, last) in zip(table.order, table.spans_of_files(places), strict=True):
        names = NamesInFile(records[number])
        own = names.places("last")
        lines, receivers, roles = zip(*[next(found) for _ in range(first, last)], strict=True)
        assert list(lines) == [names.line_at(place) for place in own]
        assert list(roles) == [names.roles[place] for place in own]
        assert receivers[1:] == (NO_NAME, UNCLEAR)
        assert table.texts(np.array(receivers[:1])) == ["x"]


def test_a_file_that_changed_is_not_read_as_checked(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    reader = SourceReader(tmp_path, 1_000)
    checked = stamp_of(file.stat())
    assert reader.read_checked("a.py", checked) == "x = 1\n"
    file.write_text("x = 22\n")
    assert reader.read_checked("a.py", checked) is None
    assert reader.read_checked("b.py", checked) is None
