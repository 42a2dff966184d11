"""Types that names tell: code that refers to itself must not be followed without end."""

from pathlib import Path

from reference_samples import found

from keyhole.core.service import Service

LOOPS = """\
class Node(Node):
    def stride(self):
        self.next = self.next.next
        here = here.stride()
        here.stride()
        return self.stride().stride


def first():
    return second()


def second():
    return first()


def walk():
    node = first()
    node = node.stride()
    other = node
    node = other
    node.stride()
"""


def test_types_that_refer_to_themselves_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(LOOPS)
    service = Service.open(tmp_path, flags={"index.model": "none"})
    service.index()
    places = found(service, ["loops.py::Node.stride"])["loops.py::Node.stride"]
    service.close()
    assert places == [
        "loops.py:4:21 call likely",
        "loops.py:5:14 call likely",
        "loops.py:6:21 call certain",
        "loops.py:6:30 attribute access likely",
        "loops.py:19:17 call likely",
        "loops.py:22:10 call likely",
    ]
