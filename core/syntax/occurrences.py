"""Every name in a file: where it stands, what it does there, and what it is taken from.

The captures of `assets/queries/references/*.scm`; if several match a name, the last one of `OccurrenceRole` counts:

    @ref                                  every name, whatever it does
    @ref.string                           a text that may be a name, alone or after others: `"models.Author"`
    @ref.text                             code that the grammar does not parse: the body of a macro in C
    @ref.word                             a word that may be a name as a whole: `log::info` in Bash
    @ref.path                             a path whose last part is imported: `"net/http"`
    @ref.member                           a member of something that is not written before it: `new Square { Side = 1 }`
    @ref.infix                            a method between its operands, so the left one is its receiver: `xs map f`;
                                          or an import in braces, whose receiver is before them: `a.{b, c}`
    @ref.attribute @ref.assignment        a member that is read; a variable or member that is written
    @ref.type @ref.call @ref.decorator    a type, something called, something that decorates
    @ref.local                            a parameter or local variable, where it starts to exist
    @ref.type_parameter                   a type parameter, where it starts to exist
    @ref.outer                            a name that a function shares with the code around it (`global x`)
    @ref.argument                         the name of an argument in a call, or of a key: no name of this scope
    @ref.base                             a class or interface that another one extends
    @ref.import @ref.alias                a name that an import brings, and the name it gets here
    @ref.setter                           a member that is written, where the grammar sees a call: `x.cost = 1` in Ruby
    @ref.plain                            a name that only mentions, where another pattern sees more: `x` in `{[x] = 1}`
    @ref.part                             a part of a name that is recorded as a whole: `x` in `$x`
    @scope                                a function without a name, which has its own variables

These say where a type comes from, besides what the name does; the last one counts:

    @mark.value                           what a variable or member before it holds: `Item` in `x = Item()`, `x: Item`
    @mark.entered                         what a variable after it holds: `open_item` in `with open_item() as x`
    @mark.returned                        what the function around it returns: `Item` in `-> Item`, `return Item()`
"""

import re
import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import accumulate, chain, count, repeat, starmap
from operator import sub
from typing import TYPE_CHECKING

from keyhole.core.types.syntax import HOLDS_METHODS, Symbol

if TYPE_CHECKING:
    # Programs that only read the records must not load grammars.
    from tree_sitter import Node

    from keyhole.core.syntax.spans import Source

# Longer names are data. A file with more names is generated; only the first ones are recorded.
_LONGEST_NAME = 200
_MOST_NAMES = 200_000
# With the quotes, if the grammar includes them; also a symbol of Ruby: `:save`, `:valid?`.
_NAME_IN_TEXT = re.compile(rb"[\"':]?(?:[^\W\d]\w*(?:\.|::|#))*([^\W\d]\w*[?!]?)[\"']?", re.ASCII)
# The name of a package is the last part of its path that is not a version: `gopkg.in/yaml.v3`, `example.com/log/v2`.
_LAST_OF_PATH = re.compile(rb"(?:.*/)?([^/]+?)(?:[./]v\d+)?", re.ASCII)
# Numbers, texts and comments are skipped.
_WORD_IN_CODE = re.compile(
    rb"\d\w*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//[^\n]*|/\*.*?\*/|([^\W\d]\w*)", re.ASCII | re.DOTALL
)
_KEYWORDS = frozenset(
    b"break case char const continue default do double else enum extern float for goto if inline int long register"
    b" return short signed sizeof static struct switch typedef union unsigned void volatile while".split()
)
# What words such as `this` and `$item` are made of.
_IN_WORDS = bytes(byte for byte in range(256) if chr(byte).isalnum() or byte in b"_$@" or byte >= 0x80)
_ENDS_OPERAND = re.compile(rb"[\w$@)\]}>?!\"'\x80-\xff]")
_BEFORE_MEMBER = frozenset(b".:>\\")
_DOT = ord(".")
_ONE_COLON = frozenset(["lua"])
# Around names in SQL that are not plain words.
_QUOTES_OF_NAMES = b'"`'
# The receiver of `\Item` in PHP and `::Item` in Ruby, which is the outermost `Item`.
OUTERMOST = frozenset(["\\", "::"])


class OccurrenceRole(IntEnum):
    """What a name does where it stands; of two roles, the later one tells more."""

    MENTION = 0
    STRING = 1
    ATTRIBUTE = 2
    ASSIGNMENT = 3
    TYPE = 4
    CALL = 5
    DECORATOR = 6
    LOCAL = 7
    TYPE_PARAMETER = 8
    OUTER = 9
    ARGUMENT = 10
    BASE = 11
    IMPORT = 12
    ALIAS = 13
    DEFINITION = 14


_ROLES = {f"ref.{role.name.lower()}": int(role) for role in OccurrenceRole if role is not OccurrenceRole.MENTION}
_ROLES |= {"ref.word": int(OccurrenceRole.STRING)}
_ROLES |= {"ref.setter": int(OccurrenceRole.ASSIGNMENT), "ref.plain": int(OccurrenceRole.MENTION)}
# Of a text in these roles, the whole is the name, and not its last part: `log::info` in Bash, `"garden.log"` in Lua.
_WHOLE = ("ref.import", "ref.call", "ref.word")

# Added to the role of a name that is taken from something: `receiver.name`.
HAS_RECEIVER = 0x80
# Added to the role of a name that says where the type of something comes from; see above.
IS_VALUE, IS_ENTERED, IS_RETURNED = 0x20, 0x40, 0x60
MARK_BITS = 0x60
ROLE_BITS = 0x1F
_MARKS = {"mark.value": IS_VALUE, "mark.entered": IS_ENTERED, "mark.returned": IS_RETURNED}
# The receiver of `make().name`; any other number is that of a name, counted from 1.
UNNAMED = 0
# Columns beyond this one are not recorded.
LAST_COLUMN = 0xFF
# The format, the types of the numbers in some columns, as the letters that `array` has for them, the size of the names,
# and how many places, receivers and symbols there are. One header, since a question reads those of many files.
HEADER = struct.Struct("<B4sIIII")
FORMAT = 2
# The types in most files; in order, those of names and receivers, of steps, of firsts and lasts, and of outward.
NARROW = b"BBBB"
# What a symbol is for the names inside it: a function has its own variables, a class has members.
# The last one is a function without a name, which is no symbol.
OTHER, FUNCTION, HOLDER, UNNAMED_FUNCTION = range(4)
_FUNCTIONS = frozenset(["function", "method", "constructor", "getter", "setter", "property", "macro"])


def pack_occurrences(
    language: str, source: "Source", captures: Iterable["dict[str, list[Node]]"], symbols: Sequence[Symbol]
) -> bytes:
    """Return the names of a file as one compact record, in the order of the source.

    The record has columns instead of rows, because a search for one name only needs a few of them. `symbols` are all
    symbols of the file, in order; the record says which names are inside each.
    """
    content = source.content
    captures = list(captures)
    unnamed = [node for found in captures for node in found.pop("scope", ())]
    ends, roles, infix, members = _collect(content, captures)
    starts = sorted(ends)[:_MOST_NAMES]
    if not starts:
        return b""
    stops = list(map(ends.__getitem__, starts))
    texts = [content[start:stop] for start, stop in zip(starts, stops, strict=True)]
    if language == "sql":
        texts = [text.strip(_QUOTES_OF_NAMES) for text in texts]
    numbers = _Numbers(zip(dict.fromkeys(texts), count()))
    name_of = list(map(numbers.__getitem__, texts))
    steps = list(map(content.count, repeat(b"\n"), chain((0,), starts), starts))
    rows = list(accumulate(steps))
    role_of = bytearray(map(roles.get, starts, repeat(0)))
    receivers = _mark_receivers(language, content, starts, stops, name_of, numbers, role_of, infix, members)
    columns = list(map(sub, starts, source.row_starts(rows)))
    if max(columns) > LAST_COLUMN:
        columns = [min(column, LAST_COLUMN) for column in columns]
    firsts = [bisect_left(rows, symbol.start_line - 1) for symbol in symbols]
    lasts = [bisect_right(rows, symbol.end_line - 1) for symbol in symbols]
    _mark_definitions(role_of, rows, name_of, numbers, symbols)
    if language == "rust":
        _tell_macro_functions(role_of, content, starts)
    if language == "ruby":
        _tell_calls(role_of, name_of, numbers, firsts, lasts)
    scopes = [scope_of(symbol.kind) for symbol in symbols]
    if unnamed:
        firsts, lasts, scopes = _with_unnamed(unnamed, starts, rows, firsts, lasts, scopes)
    # A quoted name of SQL may have several lines; as one line, it keeps its number.
    words = (name.replace(b"\n", b" ") for name in numbers) if language == "sql" else numbers
    names = b"\n".join((b"", *words, b""))
    outward = _outward(firsts, lasts)
    of_names, of_steps, of_spans, of_outward = codes = [
        _code(len(numbers)),
        _code(max(steps)),
        _code(len(starts)),
        _code(len(outward)),
    ]
    header = HEADER.pack(FORMAT, "".join(codes).encode(), len(names), len(starts), len(receivers), len(firsts))
    wide = (
        (of_names, name_of),
        (of_names, receivers),
        (of_steps, steps),
        (of_spans, firsts),
        (of_spans, lasts),
        (of_outward, outward),
    )
    return b"".join((header, names, role_of, bytes(columns), bytes(scopes), *starmap(_pack_column, wide)))


def _with_unnamed(  # noqa: PLR0913, PLR0917  # columns of one table
    unnamed: "list[Node]", starts: list[int], rows: list[int], firsts: list[int], lasts: list[int], scopes: list[int]
) -> tuple[list[int], list[int], list[int]]:
    """Add functions without a name to the symbols, each after what is around it."""
    spans = list(zip(firsts, lasts, scopes, strict=True))
    # In `const area = () => …`, the symbol is the function.
    symbols = {(rows[first], last) for first, last, scope in spans if scope == FUNCTION and first < last}
    added = set()
    for node in unnamed:
        first, last = bisect_left(starts, node.start_byte), bisect_left(starts, node.end_byte)
        if first < last and (node.start_point[0], last) not in symbols:
            added.add((first, -last))
    pending, merged = sorted(added, reverse=True), list[tuple[int, int, int]]()
    for span in spans:
        while pending and pending[-1] < (span[0], -span[1]):
            first, end = pending.pop()
            merged.append((first, -end, UNNAMED_FUNCTION))
        merged.append(span)
    merged += ((first, -end, UNNAMED_FUNCTION) for first, end in reversed(pending))
    return [one[0] for one in merged], [one[1] for one in merged], [one[2] for one in merged]


def _outward(firsts: list[int], lasts: list[int]) -> list[int]:
    """Return how many symbols back the one around each symbol is; 0 if there is none."""
    outward: list[int] = []
    open_ones: list[int] = []
    for symbol, first in enumerate(firsts):
        while open_ones and lasts[open_ones[-1]] <= first:
            open_ones.pop()
        outward.append(symbol - open_ones[-1] if open_ones else 0)
        open_ones.append(symbol)
    return outward


def _code(most: int) -> str:
    """Return the type of numbers up to this one."""
    return "B" if most <= 0xFF else "H" if most <= 0xFFFF else "I"


def _pack_column(code: str, numbers: Sequence[int]) -> bytes:
    return bytes(numbers) if code == "B" else array(code, numbers).tobytes()


def names_in(record: bytes) -> str:
    """Return the names in a record, separated by spaces."""
    size = HEADER.unpack_from(record)[2]
    return record[HEADER.size : HEADER.size + size].decode("utf-8", "replace").replace("\n", " ")


def scope_of(kind: str) -> int:
    """Return what a symbol of this kind is for the names inside it."""
    return FUNCTION if kind in _FUNCTIONS else HOLDER if kind in HOLDS_METHODS else OTHER


class _Numbers(dict[bytes, int]):
    """Numbers names in the order in which they are first seen."""

    def __missing__(self, name: bytes) -> int:
        number = self[name] = len(self)
        return number


def _collect(
    content: bytes, captures: Iterable["dict[str, list[Node]]"]
) -> tuple[dict[int, int], dict[int, int], set[int], set[int]]:
    """Return the end of each name, by its start, and the role of each that has one, with its mark.

    Also the starts of those between two operands, and of members of something that is not written.
    """
    ends: dict[int, int] = {}
    roles: dict[int, int] = {}
    infix: set[int] = set()
    members: set[int] = set()
    marks: dict[int, int] = {}
    for found in captures:
        marks |= _marks_in(found)
        # Lists instead of single names: files have so many that it takes half the time.
        _add_places(ends, found.pop("ref", []))
        for node in found.pop("ref.part", ()):
            ends.pop(node.start_byte, None)
        _add_texts(ends, roles, content, found)
        infix.update(node.start_byte for node in found.pop("ref.infix", ()))
        members.update(node.start_byte for node in found.pop("ref.member", ()))
        # In the order of the roles, so that the more telling one stays.
        for capture, role in _ROLES.items():
            if nodes := found.get(capture, []):
                roles.update(dict.fromkeys(_add_places(ends, nodes), role))
    roles.update({start: roles.get(start, 0) | mark for start, mark in marks.items()})
    for start in [start for start, end in ends.items() if not 0 < end - start <= _LONGEST_NAME]:
        del ends[start]
    return ends, roles, infix, members


def _marks_in(found: "dict[str, list[Node]]") -> dict[int, int]:
    """Return the marks of names, by their starts."""
    marks: dict[int, int] = {}
    for capture, mark in _MARKS.items():
        marks.update(dict.fromkeys([node.start_byte for node in found.get(capture, ())], mark))
    return marks


def _add_texts(ends: dict[int, int], roles: dict[int, int], content: bytes, found: "dict[str, list[Node]]") -> None:
    """Add the names in what the grammar sees as one text."""
    whole = {node.start_byte for capture in _WHOLE for node in found.get(capture, ())}
    for node in found.pop("ref.string", ()):
        # A pattern may span a whole literal; only one that is nothing but a name counts.
        text = _NAME_IN_TEXT.fullmatch(content, node.start_byte, node.end_byte)
        if text and node.start_byte not in whole:
            ends[text.start(1)] = text.end(1)
            roles.setdefault(text.start(1), OccurrenceRole.STRING)
    for node in found.pop("ref.text", ()):
        _add_words(ends, roles, content, node)
    for node in found.pop("ref.path", ()):
        if path := _LAST_OF_PATH.fullmatch(content, node.start_byte, node.end_byte):
            ends[path.start(1)] = path.end(1)
            roles[path.start(1)] = OccurrenceRole.IMPORT


def _add_words(ends: dict[int, int], roles: dict[int, int], content: bytes, node: "Node") -> None:
    """Add the names in code that is not parsed; brackets and dots show what they do."""
    for word in _WORD_IN_CODE.finditer(content, node.start_byte, node.end_byte):
        start, end = word.span(1)
        if start < 0 or word.group(1) in _KEYWORDS:
            continue
        ends[start] = end
        if content[end : end + 1] == b"(":
            roles[start] = OccurrenceRole.CALL
        elif content[start - 1 : start] == b"." or content[start - 2 : start] == b"->":
            roles[start] = OccurrenceRole.ATTRIBUTE


def _add_places(ends: dict[int, int], nodes: "list[Node]") -> list[int]:
    """Add the ends of nodes by their starts, and return the starts."""
    starts = [node.start_byte for node in nodes]
    ends.update(zip(starts, [node.end_byte for node in nodes], strict=True))
    return starts


def _mark_receivers(  # noqa: PLR0913, PLR0917  # columns of one table
    language: str,
    content: bytes,
    starts: list[int],
    stops: list[int],
    name_of: list[int],
    numbers: _Numbers,
    roles: bytearray,
    infix: set[int],
    members: set[int],
) -> list[int]:
    """Mark each name that is taken from something, and return the numbers of what they are taken from."""
    receivers = []
    marked = infix | members
    before = bytes(map(content.__getitem__, map(sub, starts, repeat(1))))
    after_mark = [place for place, sign in enumerate(before) if sign in _BEFORE_MEMBER]
    if marked:
        after_mark = sorted({*after_mark, *(place for place, start in enumerate(starts) if start in marked)})
    is_plain = not marked and language not in ("rust", "swift")
    for place in after_mark:
        start = starts[place]
        if is_plain and before[place] == _DOT and place and stops[place - 1] == start - 1:
            # As in nearly all cases: `name.name`
            roles[place] |= HAS_RECEIVER
            receivers.append(name_of[place - 1] + 1)
            continue
        if start in members or (language == "swift" and _starts_member(content, start)):
            roles[place] |= HAS_RECEIVER
            receivers.append(UNNAMED)
            continue
        if start in infix:
            is_import = roles[place] == OccurrenceRole.IMPORT
            end = _before_braces(content, start) if is_import else _skip_blanks(content, start)
        else:
            end = _receiver_end(language, content, start)
        # The dot of `from .models import …` follows a word, but is not taken from it.
        if place and stops[place - 1] != end:
            end = _before_self(content, end)
        is_loose = place == 0 or stops[place - 1] != end
        if not end or (is_loose and roles[place] == OccurrenceRole.IMPORT and start not in infix):
            continue
        if roles[place] == OccurrenceRole.MENTION and language == "rust" and content[start - 1] == _DOT:
            # The grammar does not parse the arguments of macros.
            roles[place] = OccurrenceRole.ATTRIBUTE
        roles[place] |= HAS_RECEIVER
        if is_loose:
            word = _word_before(content, end)
            receivers.append(numbers[word] + 1 if word else UNNAMED)
        else:
            receivers.append(name_of[place - 1] + 1)
    return receivers


def _receiver_end(language: str, content: bytes, start: int) -> int:
    """Return where the receiver of the name at `start` ends; 0 if the name is not taken from anything."""
    separator = content[max(0, start - 2) : start]
    if separator.endswith(b"\\"):
        # `Shop\Item` or `\Item` in PHP; in escapes such as `\n` of other languages, nothing comes before.
        is_inner = separator[:1].isalnum() or separator[:1] == b"_"
        return 0 if language != "php" else start - 1 if is_inner else start
    if separator[:1].isalnum() and separator.endswith(b"."):
        return start - 1
    if separator == b"::" and (language == "sql" or not _ENDS_OPERAND.match(content, max(0, start - 3))):
        # `::Item` is the outermost `Item`, or a reference to a function; in SQL, `price::integer` is a cast.
        return start if language == "ruby" else 0
    if separator in (b"::", b"->", b"?."):
        end = start - 2
    elif (separator.endswith(b".") and separator != b"..") or (separator.endswith(b":") and language in _ONE_COLON):
        end = start - 1
    else:
        return 0
    if content[end - 1] in b"?&!":
        # `x?->y`, `x&.y`, `x!.y`
        end -= 1
    return _skip_blanks(content, end)


def _before_self(content: bytes, end: int) -> int:
    """Return where the class before `this` ends, as in `Shape.this.area()`; the same position if there is none."""
    for word in (b".this", b".super"):
        if content.endswith(word, 0, end):
            return end - len(word)
    return end


def _before_braces(content: bytes, start: int) -> int:
    """Return where the name before the braces around an import ends: `a.b.{C, D}`."""
    return max(0, content.rfind(b"{", 0, start) - 1)


def _starts_member(content: bytes, start: int) -> bool:
    """Return whether nothing comes before the dot of a name of Swift: `return .metre`, but not on a line of its own."""
    line = content[content.rfind(b"\n", 0, start) + 1 : start - 1]
    return content[start - 1] == _DOT and line.endswith((b" ", b"\t")) and not line.isspace()


def _skip_blanks(content: bytes, end: int) -> int:
    """Return where the text before a position ends."""
    while end and content[end - 1] in b" \t\r\n":
        end -= 1
    return end


def _word_before(content: bytes, end: int) -> bytes:
    """Return the word that ends at a position, such as `this`, which is no name in most grammars."""
    before = content[max(0, end - _LONGEST_NAME) : end]
    if before.endswith(b"super()"):
        return b"super"
    if before.endswith((b"\\", b"::")):
        return b"\\" if before.endswith(b"\\") else b"::"
    return before[len(before.rstrip(_IN_WORDS)) :]


def _tell_calls(roles: bytearray, name_of: list[int], numbers: _Numbers, firsts: list[int], lasts: list[int]) -> None:
    """Tell calls without brackets from variables, and setters from getters: `x.cost = 1` calls `cost=`."""
    names = list(numbers)
    owners = [-1] * len(roles)
    for symbol, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        owners[first:last] = [symbol] * (last - first)
    variables = {
        (owner, name) for owner, name, role in zip(owners, name_of, roles, strict=True) if role == OccurrenceRole.LOCAL
    }
    for place, name in enumerate(name_of):
        text = names[name]
        if roles[place] == OccurrenceRole.ASSIGNMENT | HAS_RECEIVER:
            name_of[place] = numbers[text + b"="]
        elif roles[place] == OccurrenceRole.MENTION and (owners[place], name) not in variables:
            roles[place] = OccurrenceRole.CALL if text[:1].islower() or text[:1] == b"_" else OccurrenceRole.MENTION


def _tell_macro_functions(roles: bytearray, content: bytes, starts: list[int]) -> None:
    """Tell the functions that a macro of Rust defines from calls: the grammar only sees a name with brackets."""
    for place, start in enumerate(starts):
        if roles[place] == OccurrenceRole.CALL and content[start - 3 : start] == b"fn ":
            roles[place] = OccurrenceRole.ARGUMENT


def _mark_definitions(
    roles: bytearray, rows: list[int], name_of: list[int], numbers: _Numbers, symbols: Sequence[Symbol]
) -> None:
    """Mark the names of the symbols themselves: the first such name on the line where the symbol is named.

    A property of C# may have the name of its type, which comes first.
    """
    for symbol in symbols:
        number = numbers.get(symbol.name.encode())
        row = symbol.name_line - 1
        same = [
            place
            for place in range(bisect_left(rows, row), bisect_right(rows, row))
            if name_of[place] == number
            and roles[place] & ~HAS_RECEIVER < OccurrenceRole.IMPORT
            and roles[place] != OccurrenceRole.CALL | HAS_RECEIVER
        ]
        if len(same) > 1:
            others = [place for place in same if roles[place] & ~HAS_RECEIVER != OccurrenceRole.TYPE]
            # In `Circle::Circle(double radius)`, the first one is the class.
            others = [one for one in others if one + 1 not in others or roles[one + 1] != HAS_RECEIVER] or others
            same = others or same
        for place in same[:1]:
            roles[place] = roles[place] & HAS_RECEIVER | OccurrenceRole.DEFINITION
