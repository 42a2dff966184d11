"""Connecting to a PostgreSQL server, and converting its errors to Keyhole's, never with a password in them."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote

import psycopg
from pgvector.psycopg.bit import register_bit_info
from psycopg import conninfo, errors, postgres, pq
from psycopg.adapt import Buffer, Dumper

from keyhole.core.deadline import check_time
from keyhole.core.errors import ErrorKind, FullStoreError, StoreError, UnwritableStoreError
from keyhole.core.masking import mask_address
from keyhole.core.postgres.postgres_schema import SCHEMA, check_version

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Connection = psycopg.Connection
# The numbers of the types `integer`, `integer[]`, `bigint` and `bigint[]`.
_INTEGER, _INTEGERS, _BIGINT, _BIGINTS = 23, 1007, 20, 1016
_CONNECT_SECONDS = 10
# The server notices within a minute that a machine is gone, and releases its locks.
_KEEP_ALIVE = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
_PASSWORD = re.compile(r"(?<=://)([^/@]*):[^@/]*@")
_EXTENSION = "vector"
# Every statement has an index. The server would often read whole tables instead, because it does not count the time to
# unpack long values; and compiling a statement takes longer than it saves.
_PLANS = "SET enable_seqscan = off; SET jit = off; SET max_parallel_workers_per_gather = 0"
# Planning a statement over all partitions takes longer than most answers, so the plans of statements that are prepared
# are kept for any repositories; the partitions of others are left out when such a plan is run.
_KEPT_PLANS = "SET plan_cache_mode = force_generic_plan"
# Statements are prepared where they ask for that, never because they were run often.
_ONLY_ON_REQUEST = 1_000_000
_MOST_PREPARED = 200


class IntegerArray(bytes):
    """Integers as PostgreSQL sends them; psycopg would convert them one by one."""

    @classmethod
    def of(cls, numbers: "npt.NDArray[np.int32]") -> "IntegerArray":
        """Return these integers."""
        return cls(_array(numbers, 4, _INTEGER))


class IdArray(bytes):
    """Ids as PostgreSQL sends them."""

    @classmethod
    def of(cls, ids: Sequence[int]) -> "IdArray":
        """Return these ids."""
        return cls(_array(ids, 8, _BIGINT))


def _array(numbers: "npt.ArrayLike", size: int, kind: int) -> bytes:
    """Return an array with one dimension, which starts at 1 and has no NULL: each number comes after its size."""
    import numpy as np

    count = np.size(numbers)
    items = np.empty(count, [("size", ">i4"), ("number", f">i{size}")])
    items["size"], items["number"] = size, numbers
    return np.array([1, 0, kind, count, 1], ">i4").tobytes() + items.tobytes()


class _IntegerArrayDumper(Dumper):
    format = pq.Format.BINARY
    oid = _INTEGERS

    def dump(self, obj: bytes) -> Buffer:
        return bytes(obj)


class _IdArrayDumper(_IntegerArrayDumper):
    oid = _BIGINTS


def connect(url: str) -> Connection:
    """Open a connection; each statement outside of a transaction is one of its own."""
    with explained(url):
        db = psycopg.connect(
            url,
            autocommit=True,
            prepare_threshold=_ONLY_ON_REQUEST,
            connect_timeout=_CONNECT_SECONDS,
            application_name="keyhole",
        )
        register_bit_info(db, postgres.types["varbit"])
        db.adapters.register_dumper(IntegerArray, _IntegerArrayDumper)
        db.adapters.register_dumper(IdArray, _IdArrayDumper)
        db.prepared_max = _MOST_PREPARED
        db.execute(f"SET search_path = {SCHEMA}, public; {_KEEP_ALIVE}; {_PLANS}; {_KEPT_PLANS}")
        return db


def connect_checked(url: str) -> Connection:
    """Open a connection to a database with pgvector and tables of the right version."""
    db = connect(url)
    try:
        with explained(url):
            check_version(db)
            check_extension(db)
    except BaseException:
        db.close()
        raise
    return db


def check_extension(db: Connection) -> None:
    """Raise StoreError unless pgvector is there."""
    if not db.execute("SELECT 1 FROM pg_extension WHERE extname = %s", [_EXTENSION]).fetchone():
        raise StoreError("the database has no extension vector (pgvector)", ErrorKind.NO_EXTENSION)


def create_extension(db: Connection) -> None:
    """Create the extension pgvector in the database, if it is not there yet."""
    try:
        db.execute(f"CREATE EXTENSION IF NOT EXISTS {_EXTENSION}")
    except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege) as error:
        text = f"the extension vector (pgvector) can't be created ({_reason(error)})"
        raise StoreError(text, ErrorKind.NO_EXTENSION) from None


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Raise PostgreSQL's errors as Keyhole's errors, which explain what happened."""
    try:
        yield
    except errors.QueryCanceled as error:
        check_time()
        raise StoreError(f"the database cancelled a statement ({_told(url, error)})", ErrorKind.NO_SERVER) from None
    except (errors.DiskFull, errors.OutOfMemory) as error:
        raise FullStoreError(f"the database has no space left ({_told(url, error)})", ErrorKind.FULL_DATABASE) from None
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        text = f"the database refuses access ({_told(url, error)})"
        raise UnwritableStoreError(text, ErrorKind.NO_DATABASE_RIGHTS) from None
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName) as error:
        raise StoreError(f"the tables have changed ({_told(url, error)})", ErrorKind.NO_TABLES) from None
    except psycopg.OperationalError as error:
        text = f"cannot use the database {mask_address(url)} ({_told(url, error)})"
        raise StoreError(text, ErrorKind.NO_SERVER) from None
    except psycopg.ProgrammingError as error:
        # psycopg raises this for an address that it cannot read, and quotes it.
        if error.sqlstate is None and not isinstance(error, errors.SyntaxError):
            text = "store.url is not a valid address; write special characters of a password as %40, %3A, %2F"
            raise StoreError(text, ErrorKind.NO_SERVER) from None
        raise StoreError(f"the database reports an error ({_told(url, error)})", ErrorKind.NO_SERVER) from None
    except psycopg.Error as error:
        raise StoreError(f"the database reports an error ({_told(url, error)})", ErrorKind.NO_SERVER) from None


def _told(url: str, error: psycopg.Error) -> str:
    """Return what the server or its library says, on one line and without the password."""
    found = _reason(error)
    for secret in _passwords(url):
        found = found.replace(secret, "***")
    return found


def _reason(error: psycopg.Error) -> str:
    said = error.diag.message_primary or str(error) or type(error).__name__
    return _PASSWORD.sub(r"\1:***@", " ".join(said.split()))


def _passwords(url: str) -> list[str]:
    """Return the password in an address, as written and as meant; if it is not valid, everything before the last @."""
    try:
        meant = conninfo.conninfo_to_dict(url).get("password")
    except psycopg.Error:
        meant = None
    _, _, rest = url.partition("://")
    written = rest.rpartition("@")[0].partition(":")[2]
    # A password with a bare @ is cut there, and its rest taken for the host.
    parts = [meant, written, unquote(written), *re.split("[@/]", written)]
    return sorted({str(part) for part in parts if part}, key=len, reverse=True)
