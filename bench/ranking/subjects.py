"""Commit subjects as queries: what is left when all that only concerns the commit is removed."""

import re

FEWEST_WORDS, MOST_WORDS = 3, 25
FEWEST_TELLING_WORDS = 2

_PREFIX = re.compile(
    r"""^(?:
      [^\w`'"(\[{<$@./\#:-]+                                           # emoji and other marks
    | :[a-z0-9_+-]+:                                                   # emoji by name
    | \[[^\[\]]{1,40}\]\s*:?                                           # [JIRA-1], [core]
    | [A-Z][A-Z0-9]+-\d+\b\s*[:.-]*                                    # JIRA-1:
    | \(?(?:\#|gh-?)\d+\)?\s*[:.-]*                                    # gh-1:, #1
    | (?:issue|bug|ticket|pr)s?\s*\#?\d+\b\s*[:.-]*                    # Issue 1:
    | (?:fix(?:e[sd])?|close[sd]?|refs?|resolve[sd]?|see|issue|bug|for)\s+
      (?:(?:issue|bug|gh)\s*)?\#?\d+(?:(?:,|\s+and)\s*\#?\d+)*\b\s*(?:--|[,:;.-])*   # Fixed #1, #2 --
    | [\w./*,@+{}|-]+(?:\s*\([^()]*\))*!?:(?=\s)                       # fix(core):, net/http:
    | (?:(?:fix|feat|chore|perf|build|style|refactor)(?:\([^()]*\)(?=\s)|(?:\([^()]*\))?!?:))   # fix:x, fix(core) x
    | --?(?=\s)
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_NOTE = re.compile(
    r"""\s*[(\[](?:[^()\[\]]*(?:\#|\bgh-)\d+[^()\[\]]*|skip\s?ci|ci\s?skip|wip|[A-Z]+-\d+)[)\]]   # (#1), [skip ci]
    | \s*(?:[,;.-]\s*)?\b(?:fix(?:e[sd])?|close[sd]?|refs?|resolve[sd]?|see|re|issue|ticket|for|in|from|via|and|of)\s+
      (?:(?:issue|bug|pr|ticket)s?\s*)?(?:\#|gh-)\d+(?:(?:,|\s+and|\s)\s*\#?\d+)*
    | \s*(?:\#|\bgh-)\d+\b
    | \s+\bby\s+@[\w-]+
    | \s*\bSigned-off-by:.*""",
    re.VERBOSE | re.IGNORECASE,
)
# A subject with one of these is about the project and not about its code, or says nothing about what changed.
_OTHER_TOPICS = {
    "history": r"revert\w*|re-?land\w*|unrevert|cherry[-\s]?pick\w*|back-?port\w*|commits?|pull\srequest"
    r"|merge[ds]?\s(?:branch|pull|pr|from|master|main)",
    "review": r"code\sreview|review\s(?:comments?|feedback)|feedback|nits?|nitpick\w*|oops|forg[eo]t\w*|contribut\w+",
    "versions": r"bump\w*|upgrade\sto|releases?|pre-release|versions?\s(?:to|from)|version\snumber|\d+\.\d+\.\d+"
    r"|changesets?|year|copyright|licen[cs]e\w*",
    "dependencies": r"dependenc(?:y|ies)|deps|dependabot|renovate|vendored?",
    "wording": r"typos?|misspell\w*|spelling|grammatical|wording",
    "layout": r"white\s?spaces?|indentation|indent\sfix|reformat\w*|formatting|aesthetic|style\sfix\w*"
    r"|cod(?:e|ing)\s(?:style|clean\w*)"
    r"|prettier|gofmt|goimports|rustfmt|clang-?format|swiftformat|scalafmt|stylua|isort|pep-?8|php-cs\w*",
    "checkers": r"lint\w*|[ejt]slint|jshint|rubocop|pylint|flake8|pyflakes|ruff|mypy|pyright|clippy|checkstyle|ktlint"
    r"|clang-?tidy|detekt|swiftlint|phpcs|phpstan|psalm|sonar\w*|coverity|shellcheck|luacheck|type\s?hints?"
    r"|fix\w*\s(?:\S+\s){0,2}warnings?"
    r"|(?:compiler?|build|compilation|deprecation|unused|static\sanaly\w+)\s(?:warning|error|failure|break\w*)s?",
    "documentation": r"docs?|documentation|documenting|docstrings?|docblocks?|doxygen|docc|rst"
    r"|(?:java|k|api|js|php|scala|go|rust|x)-?docs?"
    r"|readme|changelog|(?:changes?|news|markdown)\sfile|comment(?:s|ed)?|note\s(?:on|about|that)",
    "tests": r"(?:\w+_)?tests?|testing|tested|testcases?|unittests?|specs?|coverage|benchmarks?",
    "builds": r"travis|appveyor|circleci|jenkins|github\sactions?|workflows?|ci|gitignore|makefile|cmake\w*"
    r"|dockerfile|gradle|maven|pom|(?:fix|broken|break)\w*\sbuilds?",
    "chores": r"clean(?:ing|ed)?[-\s]?ups?|tidy\w*|housekeeping|misc|miscellaneous|cosmetic\w*|nfc|trivial|minor"
    r"|dead\scode|unused\s(?:import|variable|code|function|include|parameter|method|file|using|require|argument)s?"
    r"|todos?|fixmes?|(?:rename|move)\sfiles?|debug\s(?:print|output|log)s?",
}
_OTHER_TOPIC = re.compile(rf"\b(?:{'|'.join(_OTHER_TOPICS.values())})\b", re.IGNORECASE)
_OTHER_START = re.compile(
    r"merge|reapply|clarif\w+|note|explain|mention|describe|document|release|version|prepare|v?\d+\.\d|wip\b|initial\b"
    r"|squash|fixup|amend|apply\ssuggestion|back\sto|begin|start\swork|auto[-\s]?generate|regenerate|regen\b|sync\b"
    r"|post[-\s]release|rebase|checkpoint|temp\b|save\b",
    re.IGNORECASE,
)
# A flag of a compiler, an address, or a subject that was cut off.
_UNREADABLE = re.compile(r"-W\w+|https?://|(?:\.\.\.|…)$")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]+")
_GENERIC = frozenset(
    re.findall(
        r"\w+",
        """
        a about add added adding adds after again all allow allowed allows also always an and another any are as at
        avoid back bad be because been before being better big bit both bug bugfix bugs but by can case cases change
        changed changes changing check checks clean code commit compile correct correctly could crash create default
        did different do does doing don done each edge enable ensure error errors even every everything existing
        explicit extra feature few file files first fix fixed fixes fixing follow for from function functions further
        get gets getting good handle handled handles handling has have having help hopefully how if implement
        implementation implemented implements improve improved improvement improvements in include initial instead
        into is issue issues it its itself just keep last later less let like line lines little log logic long look
        lot make makes making many may maybe method methods minor missing mode more most move moved moves moving much
        must name names need needed needs new next no non not now of off old on once one only onto optimise optimize
        option optional options or other our out over own part pass per possible prevent problem problems proper
        properly put quick really redundant refactor refactored refactoring remove removed removes removing rename
        renamed replace replaced reset restore return returns rework rewrite right run running safe same second set
        setting several should show side simple simplification simplified simplify single slightly small so some
        something sometimes sort split still stop stuff such support supported supports sure switch take than that the
        their them then there these they thing things this those to too try trying turn tweak tweaks two type types
        unnecessary unneeded until up update updated updates updating use used user uses using value values various
        very want was way we well were what when where whether which while who why will with without work working
        works would wrong you your
        """,
    )
)


def query_of(subject: str) -> str:
    """Return what a commit subject says about code, in the author's words; empty if it says too little."""
    text = _without_prefixes(subject.strip())
    text = " ".join(_NOTE.sub(" ", text).replace("`", "").split()).strip(" .,;:-")
    if _OTHER_START.match(text) or _OTHER_TOPIC.search(text) or _UNREADABLE.search(text):
        return ""
    if not FEWEST_WORDS <= len(text.split()) <= MOST_WORDS:
        return ""
    plain = sum(character.isascii() and (character.isalnum() or character in " .,_-'") for character in text)
    if plain < 0.9 * len(text):
        return ""
    return text if len(telling_words(text)) >= FEWEST_TELLING_WORDS else ""


def telling_words(text: str) -> set[str]:
    """Return the words of a query that say what it is about."""
    return {word for word in map(str.lower, _WORD.findall(text)) if len(word) > 2 and word not in _GENERIC}


def _without_prefixes(text: str) -> str:
    """Remove one prefix after the other, such as those of `[core] fix(io): …`."""
    while match := _PREFIX.match(text):
        text = text[match.end() :]
    return text
