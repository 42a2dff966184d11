"""The journal: every call of an agent, in one size-limited SQLite file per workspace that all server processes write.

How to follow it (`JournalReader` in reader.py; from any thread, but one at a time):

    reader = JournalReader(service.folder)
    changes = reader.poll()                    # the newest calls, oldest first, and a mark
    ...every 100 ms or so; a poll takes microseconds if nothing happened...
    changes = reader.poll(changes.mark)        # each call that started or ended after the mark

- A call comes twice with the same `id`: when it starts (`pending`) and when it ends. So keep calls in a dict by `id`.
- `changes.is_reset`: discard what you have (it is the first poll, or the journal was cleared).
- `changes.has_more`: poll again immediately. A poll returns at most 1,000 calls.
- A pending call whose process has ended will never end: `is_lost(call)` returns True for it.
- `reader.calls(CallFilter(...).admits, before=id)` pages back through older calls that a filter admits
  (`core/view/call_filter.py`), newest first; `reader.whole(id)` returns the arguments, the exact answer and the effect
  of the budget; `reader.each()` streams every call, for `statistics` in statistics.py and `conversations` in story.py.
- If there is no journal yet, everything is empty, and `poll` finds the journal when it exists.
- A journal that cannot be read raises StoreError.
"""
