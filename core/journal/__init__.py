"""The journal: every call of an agent, in one bounded SQLite file per workspace, written by every server process.

How a reader follows it (`JournalReader` in reader.py; any thread, one at a time):

    reader = JournalReader(service.folder)
    changes = reader.poll()                    # the newest calls, oldest first, and where they end
    ...every 100 ms or so, costing microseconds when nothing happened...
    changes = reader.poll(changes.mark)        # each call that started or ended since

- A call comes twice: once `pending`, once as it ended, with the same `id`; so keep calls in a dict by `id`.
- `changes.is_reset`: forget what you had (the first poll, or the journal was cleared).
- `changes.has_more`: poll again at once. A poll gives at most 1,000 calls.
- A pending call whose process is gone will never end: `is_lost(call)` tells, at any time.
- `CallFilter(...).admits(call)` is the one rule of what a filter shows; `reader.calls(CallFilter(...), before=id)`
  pages back through older calls, newest first; `reader.whole(id)` has the arguments, the exact answer and what the
  budget did; `reader.each()` streams every call, for `statistics` in statistics.py.
- There may be no journal yet: everything is empty then, and `poll` finds it once it is there.
- A journal that cannot be read is a StoreError that says what to do.
"""
