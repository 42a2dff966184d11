"""Run Keyhole with `python -m keyhole`."""

import sys

if __name__ == "__main__":
    # Python puts the current folder first on its path. That is often the repository to explore, which is untrusted.
    if not sys.flags.safe_path:
        del sys.path[0]
    from keyhole.core.cli.entry import main

    main()
