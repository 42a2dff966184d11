"""Maps show base classes and interfaces also at the levels that show only names, in every language with classes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.config import load_settings
from keyhole.core.service import Service
from keyhole.core.types.choices import Format, MapLevel
from keyhole.core.types.syntax import HOLDS_METHODS, Symbol
from keyhole.core.types.view_requests import MapRequest
from keyhole.core.view.maps.base_classes import base_names, declaration
from keyhole.core.view.text import declared_name

# Source, and what the shorter levels show of it: the declaration in text, the bases in JSON.
TYPES = {
    "a.py": ("class A[T](Base, Generic[T], metaclass=Meta): pass", "class A(Base, Generic[T], metaclass=Meta)"),
    "none.py": ("class A(): pass", "class A"),
    "a.ts": (
        "export class A<T extends X = () => void> extends B<T> implements C, D {}",
        "export class A extends B<T> implements C, D",
    ),
    "b.ts": ("interface A<T> extends B<T>, C {}", "interface A extends B<T>, C"),
    "a.js": ("class A extends mixin(B, C) {}", "class A extends mixin(B, C)"),
    "b.js": ("const A = class extends B {}", "const A = class extends B"),
    "A.java": (
        "class A<T extends X<T>> extends B<T> implements C<T>, D {}",
        "class A extends B<T> implements C<T>, D",
    ),
    "B.java": ("record B(int x, String y) implements C {}", "record B implements C"),
    "C.java": ("sealed interface C extends D permits E, F {}", "sealed interface C extends D"),
    "a.cs": ("class A<T>(int x) : B<T>(x), IC where T : D { }", "class A : B<T>, IC"),
    "a.cpp": ("class A final : public B<int>, private c::D {};", "class A : public B<int>, private c::D"),
    "a.kt": ("class A<T : X>(val x: (Int) -> T, y: Y) : B<T>(y), C by d where T : Z", "class A : B<T>, C by d"),
    "b.kt": ("class A private constructor(x: Int)", "class A"),
    "a.swift": ("class A<T: X>: B, C where T: D {}", "class A: B, C"),
    "b.swift": ("extension A: B {}", "extension A: B"),
    "a.php": ("<?php\nfinal class A extends B implements \\C, D {}", "final class A extends B implements \\C, D"),
    "a.rb": ("class A < B::C\nend", "class A < B::C"),
    "a.scala": ("class A[K <: X: Y](x: Int)(y: Int) extends B[K](x) with C", "class A extends B[K] with C"),
    "a.rs": ("trait A<T>: B + C<T> where T: D {}", "trait A: B + C<T>"),
    "b.rs": ("struct X;\nimpl<T> A<T> for X {}", "impl<T> A<T> for X"),
    "a.go": ("package a\n\ntype A struct {\n\t*B\n\tx int\n\tc.D[E]\n}", "type A struct { B; c.D[E] }"),
    "b.go": ("package a\n\ntype A interface {\n\tio.Closer\n\tRun()\n}", "type A interface { io.Closer }"),
    "c.go": ("package a\n\ntype A struct {\n\tx int\n}", "type A"),
}
NAMES = {
    "a.py": "Base, Generic[T], metaclass=Meta",
    "b.js": "extends B",
    "a.cs": "B<T>, IC",
    "a.rb": "B::C",
    "a.go": "B; c.D[E]",
    "none.py": None,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """Open a workspace with one type in each file."""
    root: Path = tmp_path_factory.mktemp("types")
    for name, (source, _) in TYPES.items():
        (root / name).write_text(f"{source}\n")
    return Service(root, load_settings(root, {"cache_dir": root / "cache"}))


@pytest.mark.parametrize("name", TYPES)
def test_the_shorter_levels_name_the_bases(service: Service, name: str) -> None:
    shown = TYPES[name][1]
    for level in (MapLevel.MINIMAL, MapLevel.OUTLINE):
        assert f"  {shown}: [" in service.map_view(MapRequest(name, level)).text


@pytest.mark.parametrize("name", NAMES)
def test_json_names_them_too(service: Service, name: str) -> None:
    (result,) = json.loads(service.map_view(MapRequest(name, MapLevel.OUTLINE, format=Format.JSON)).text)["results"]
    assert result.get("bases") == NAMES[name]


@given(
    st.text(alphabet="A<>()[]{}:= -,\0x", max_size=40) | st.text(max_size=40),
    st.sampled_from(["python", "go", "ruby", "scala", "kotlin", "cpp", "text"]),
    st.sampled_from(sorted(HOLDS_METHODS)),
)
def test_any_signature_gives_a_part_of_itself(signature: str, language: str, kind: str) -> None:
    symbol = Symbol("A", kind, signature, "", "", 1, 1, 1, "", exported=True)
    shown = declaration(symbol, language)
    assert shown.startswith(declared_name(signature, "A"))
    assert len(shown) <= len(signature)
    assert base_names(symbol, language) in shown
