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
from keyhole.core.types import Format

TICKS = itertools.count()


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
