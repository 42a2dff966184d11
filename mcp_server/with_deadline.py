"""Deadlines: a call ends at its deadline, and its work ends when the client cancels."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from keyhole.core.deadline import Deadline, within

# Most clients give up after about a minute; an error before that tells the agent what to do.
SECONDS = 20.0
# Some work does not check the deadline, such as one regular expression on one file; it gets a little longer.
GRACE = 2.0

Request = TypeVar("Request")
Answer = TypeVar("Answer")


async def with_deadline(work: Callable[[Request], Answer], request: Request) -> Answer:
    """Do work in a thread until it is done, the deadline passes, or the client cancels."""
    deadline = Deadline(SECONDS)
    with within(deadline):
        thread = asyncio.ensure_future(asyncio.to_thread(work, request))
    # The thread may end after nobody waits for it; reading its error avoids a warning.
    thread.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.wait_for(asyncio.shield(thread), SECONDS + GRACE)
    except TimeoutError:
        raise deadline.error() from None
    finally:
        deadline.cancel()
