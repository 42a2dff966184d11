"""Styles that are parsed once for each theme."""

from textual.css.stylesheet import Stylesheet


class SteadyStylesheet(Stylesheet):
    """Keeps what it has parsed until the theme changes; Textual parses everything again for each new screen."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parsed_with = variables

    def set_variables(self, variables: dict[str, str]) -> None:
        """Set the variables; the parsed styles are dropped only if one has changed."""
        if variables != self._parsed_with:
            self._parsed_with = variables
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse what is not parsed yet."""
        self.parse()
