"""Runs a command and writes down every byte that passes: `wire_tap.py LOG COMMAND ARGS` writes LOG.in and LOG.out.

Two of them, one on each side of a wrap, show whether the wrap changed anything.
"""

import os
import subprocess
import sys
import threading


def copy(source: int, target: int, log: str) -> None:
    """Copy until the end, then close the target."""
    # Not buffered: a client may kill everything at its end.
    with open(log, "wb", buffering=0) as kept:  # noqa: PTH123  # starts in every measured run: no slow imports
        while chunk := os.read(source, 65_536):
            kept.write(chunk)
            view = memoryview(chunk)
            while view:
                view = view[os.write(target, view) :]
    os.close(target)


def main() -> None:
    """Run the command between two copies."""
    log, *command = sys.argv[1:]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        if server.stdin is None or server.stdout is None:
            raise SystemExit("no pipes")
        ends = server.stdin.fileno(), server.stdout.fileno()
        threading.Thread(target=copy, args=(0, os.dup(ends[0]), f"{log}.in"), daemon=True).start()
        server.stdin.close()
        copy(ends[1], 1, f"{log}.out")
        os._exit(server.wait())


if __name__ == "__main__":
    main()
