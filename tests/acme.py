"""A small fixed workspace with a bit of everything: code, tests, prose, and files to skip."""

from pathlib import Path

RETRY = '''"""Retries with growing delays."""

import random
import time


class RetryPolicy:
    """Decides whether and when to try again."""

    def __init__(self, attempts: int = 5, base: float = 0.2) -> None:
        self.attempts = attempts
        self.base = base

    def backoff(self, attempt: int) -> float:
        """Return the delay before the given attempt."""
        return self.base * 2**attempt * random.uniform(0.5, 1.5)

    def allows(self, attempt: int) -> bool:
        """Tell whether there is an attempt left."""
        return attempt < self.attempts


def retry(call, policy=RetryPolicy()):
    """Call until it works or the policy gives up."""
    attempt = 0
    while True:
        try:
            return call()
        except OSError:
            if not policy.allows(attempt):
                raise
            time.sleep(policy.backoff(attempt))
            attempt += 1
'''

CLIENT = '''"""Talks to the server, and tries again when it does not answer."""

from acme.retry import RetryPolicy, retry


class Client:
    """A connection with retries and backoff."""

    def __init__(self, address: str, policy: RetryPolicy | None = None) -> None:
        self.address = address
        self.policy = policy or RetryPolicy()

    def fetch(self, path: str) -> bytes:
        """Fetch a page, with retries."""
        return retry(lambda: self._send(path), self.policy)

    def _send(self, path: str) -> bytes:
        raise NotImplementedError
'''

STORE = '''"""Keeps what was fetched."""


class Store:
    """A cache of pages by path."""

    def __init__(self) -> None:
        self.pages = {}

    def put(self, path, page):
        """Keep a page."""
        self.pages[path] = page

    def get(self, path):
        """Return a page, or None."""
        return self.pages.get(path)
'''

HANDLER = '''"""Handles event {number}."""


def handle_{name}(event, *, dry_run=False):
    """Handle the event {name} and report what was done."""
    steps = []
{steps}
    return steps
'''

APP = """// The page that shows orders.
interface Order {
  id: number;
  total: number;
}

export function renderOrder(order: Order): string {
  return `#${order.id}: ${order.total}`;
}

export class OrderList {
  constructor(private orders: Order[]) {}

  render(): string[] {
    return this.orders.map(renderOrder);
  }
}
"""

NAMES = "created paid shipped returned refunded opened closed moved merged renamed archived restored".split()  # noqa: SIM905


def write_acme(root: Path) -> Path:
    """Write the workspace into a folder, and return it."""
    files = {
        "README.md": "# Acme\n\nSells everything.\n\n## Retries\n\nClients try again with a growing backoff.\n",
        "src/acme/retry.py": RETRY,
        "src/acme/client.py": CLIENT,
        "src/acme/store.py": STORE,
        "web/app.ts": APP,
        "tests/test_retry.py": "def test_backoff_grows():\n    assert True\n",
        "package-lock.json": "{}\n",
        "debug.log": "started\n",
        ".env": "TOKEN=1\n",
        ".gitignore": "*.log\n",
    }
    for number, name in enumerate(NAMES):
        steps = "\n".join(f'    steps.append("{name} step {step}")' for step in range(number * 2 + 3))
        files[f"src/acme/handlers/{name}.py"] = HANDLER.format(number=number, name=name, steps=steps)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root
