"""A small workspace whose references have every certainty, and a chain of callers."""

from pathlib import Path

from driving import make_service

from keyhole.core.service import Service

PRICES = '''"""What things cost."""

RATE = 20


def with_tax(cost: int) -> int:
    """Return a cost with tax."""
    return cost + cost * RATE // 100


class Item:
    """Something to sell."""

    def __init__(self, cost: int) -> None:
        self.cost = cost

    def price(self) -> int:
        """Return the price with tax."""
        return with_tax(self.cost)

    def label(self) -> str:
        """Return the price as text."""
        return f"{self.price():,}"


class Discounted(Item):
    """Half the price."""

    def price(self) -> int:
        """Return half the price."""
        return super().price() // 2

    def full_label(self) -> str:
        """Return the label with a note."""
        return f"{self.label()} (was {Item.price(self)})"


class Bundle:
    """Several things at once."""

    def price(self) -> int:
        """Return a price of its own."""
        return with_tax(1) + with_tax(2)
'''
CART = '''"""What someone buys."""

from shop.prices import Discounted, with_tax


class Cart:
    """Things, in order."""

    def __init__(self) -> None:
        self.things = []

    def total(self) -> int:
        """Return the price of all things."""
        return sum(thing.price() for thing in self.things) + with_tax(3)

    def lines(self) -> list[str]:
        """Return a line for each thing, and the total."""
        return [thing.label() for thing in self.things] + [str(self.total())]


def checkout(cart: Cart) -> str:
    """Return a receipt."""
    return "\\n".join(Cart.lines(cart))


def unused() -> None:
    """Nothing calls this."""
'''
MAIN = '''"""Sells one thing."""

from shop.cart import Cart, checkout

CART = Cart()

if __name__ == "__main__":
    print(checkout(CART))
'''


def write_uses(root: Path, *, callers: int = 0) -> Service:
    """Write and index the workspace; `callers` more functions call `with_tax`."""
    many = "".join(f"def use_{number}():\n    return with_tax({number})\n\n\n" for number in range(callers))
    texts = {
        "README.md": "# Shop\n\nSells things.\n",
        "shop/__init__.py": "",
        "shop/prices.py": PRICES,
        "shop/cart.py": CART,
        "main.py": MAIN,
    }
    if callers:
        texts["shop/many.py"] = f"from shop.prices import with_tax\n\n\n{many}"
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    service = make_service(root)
    service.index()
    return service
