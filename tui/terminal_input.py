"""Keys from a terminal whose encoding is not UTF-8."""

import codecs


def read_keys_as(encoding: str) -> None:
    """Decode what is typed by the encoding of the terminal; Textual takes it for UTF-8, and ends at the first error."""
    if codecs.lookup(encoding).name == "utf-8":
        return
    from textual.drivers import linux_driver

    # Textual has no setting for it.
    vars(linux_driver)["getincrementaldecoder"] = lambda _: _decoder(encoding)


def _decoder(encoding: str) -> "type[codecs.IncrementalDecoder]":
    class Lenient(codecs.getincrementaldecoder(encoding)):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(errors="replace")

    return Lenient
