"""A server that answers as a real one did: `replayed_server.py IN OUT` sends the recorded lines up to each answer."""

import json
import sys
from pathlib import Path


def main() -> None:
    """Send what was recorded, byte for byte."""
    sent = Path(sys.argv[1]).read_bytes().splitlines(keepends=True)
    answers = Path(sys.argv[2]).read_bytes().splitlines(keepends=True)
    for expected in sent:
        line = sys.stdin.buffer.readline()
        if line != expected:
            sys.exit(f"expected {expected!r}, got {line!r}")
        number = _id_in(line, "method")
        while number is not None and answers:
            answer = answers.pop(0)
            sys.stdout.buffer.write(answer)
            if _id_in(answer, "result", "error") == number:
                break
        sys.stdout.buffer.flush()
    sys.stdout.buffer.write(b"".join(answers))


def _id_in(line: bytes, *keys: str) -> object:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message.get("id") if isinstance(message, dict) and any(key in message for key in keys) else None


if __name__ == "__main__":
    main()
