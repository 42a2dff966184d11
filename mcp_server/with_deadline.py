"""Answering in time: a call ends at its deadline, and its work ends when the client gives up."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from keyhole.core.deadline import Deadline, within

# Clients give up after about a minute, most of them; an agent can make more of an answer before that.
SECONDS = 20.0
# What does not look at the time, such as one regular expression over one file, is waited for a little longer.
GRACE = 2.0

Request = TypeVar("Request")
Answer = TypeVar("Answer")


async def with_deadline(work: Callable[[Request], Answer], request: Request) -> Answer:
    """Do work in a thread; it has the time it has, or as long as the client waits."""
    deadline = Deadline(SECONDS)
    with within(deadline):
        thread = asyncio.ensure_future(asyncio.to_thread(work, request))
    # It may end after everyone has left.
    thread.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.wait_for(asyncio.shield(thread), SECONDS + GRACE)
    except TimeoutError:
        raise deadline.error() from None
    finally:
        deadline.cancel()
