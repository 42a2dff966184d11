"""Workspaces for link queries, and helpers to read their views as JSON."""

import itertools
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from keyhole.core.config import load_settings
from keyhole.core.links.requests import RelationRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Format

TICKS = itertools.count()

# Packages of several languages and notes, which link to each other.
PACKAGES = {
    "pyproject.toml": "[project]\nname = 'shop'\n",
    "src/shop/__init__.py": "from shop.cart import Cart\n",
    "src/shop/cart.py": "from . import prices\nimport numpy\n",
    "src/shop/prices.py": "",
    "src/tools/run.py": "import shop.cart\nfrom shop import prices, Cart\n",
    "src/plain/one.py": "from plain import two\n",
    "src/plain/two.py": "",
    "tests/test_cart.py": "from shop.cart import Cart\nimport plain.two\n",
    "web/package.json": '{"name": "@acme/web"}\n',
    "web/main.ts": 'import { help } from "@acme/tools";\nimport "@acme/tools/deep/more";\n',
    "packages/tools/package.json": '{"name": "@acme/tools", "main": "lib/main"}\n',
    "packages/tools/lib/main.ts": 'import "../deep/more";\n',
    "packages/tools/deep/more.ts": "",
    "go.mod": "module example.org/shop\n",
    "main.go": 'package main\n\nimport "example.org/shop/store"\n',
    "store/store.go": 'package store\n\nimport "example.org/shop/store/disk"\n',
    "store/disk/disk.go": 'package disk\n\nimport "example.org/shop/store"\n',
    "docs/guide.md": "[api](api.md) [home](../README.md)\n",
    "docs/api.md": "[guide](guide.md)\n",
    "README.md": "[docs](docs/) [guide](docs/guide.md)\n\n[[api]]\n",
    "tax/Cargo.toml": '[package]\nname = "shop-tax"\n',
    "tax/src/lib.rs": "use serde::Serialize;\n",
    "empty/lonely.py": "",
}


def put(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        os.utime(root / path, ns=(10**18, 10**18 + next(TICKS)))


def open_service(root: Path, **flags: Any) -> Service:
    service = Service(root, load_settings(root, {"cache_dir": root.parent / "cache", "index.model": "none", **flags}))
    service.index()
    return service


def facts(service: Service, request: RelationRequest) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(service.relation_view(replace(request, format=Format.JSON)).text)
    return answer
