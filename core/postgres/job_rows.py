"""The end of a job in the queue of a team, inside the transaction that writes its revision; and its connections."""

from keyhole.core.errors import LostJobError
from keyhole.core.postgres.server_connection import Connection

# PostgreSQL shows no more of a connection's name.
_LONGEST_NAME = 63


def end_job(db: Connection, repository: int, worker: str) -> None:
    """Remove a job that is done, or give it back if it was asked for again; raise LostJobError if it is not ours."""
    values = {"repo": repository, "worker": worker}
    if not db.execute(_REMOVE, values).rowcount and not db.execute(_ASK_AGAIN, values).rowcount:
        raise LostJobError("another worker has taken over, or the repository was removed")


def name_connection(db: Connection, worker: str) -> None:
    """Give a connection the name of its worker, so that the one that takes over can end it."""
    db.execute("SELECT set_config('application_name', %s, false)", [worker[:_LONGEST_NAME]])


def end_connections(db: Connection, worker: str) -> None:
    """End the connections of a worker whose lease has ended: it may be stopped, not dead, and hold locks."""
    db.execute(
        """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = %s AND datname = current_database() AND pid <> pg_backend_pid()
                AND usename = current_user""",
        [worker[:_LONGEST_NAME]],
    )


_REMOVE = "DELETE FROM job WHERE repo = %(repo)s AND worker = %(worker)s AND asked <= taken"
_ASK_AGAIN = """UPDATE job SET worker = '', taken = NULL, lease = NULL, failures = 0, problem = '', not_before = now()
    WHERE repo = %(repo)s AND worker = %(worker)s"""
