"""TOML that anyone may have written: whatever is wrong with it, the parser raises ValueError with a plain reason."""

import tomllib


def parse_toml(content: bytes | str) -> dict[str, object]:
    """Parse a file's bytes, or a text; raise ValueError if it is not valid."""
    try:
        return tomllib.loads(content.decode("utf-8-sig") if isinstance(content, bytes) else content)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        # Python converts no number with thousands of digits; its own message names a function of Python.
        raise ValueError("a number has too many digits") from None
