"""Finding the roles of files, after a run has indexed all changed files.

The role of a file depends on the paths next to it, so roles are found for all files when a path comes or goes, or when
the text of a file says something else about its role. No file is read again for this.
"""

from keyhole.core.index.protocols import WriterStore
from keyhole.core.roles.file_roles import RoleFacts, file_roles


def update_roles(store: WriterStore) -> None:
    """Find the roles of all files again if that is necessary, inside the caller's transaction."""
    if not store.facts().roles:
        return
    files = store.stored_roles()
    found = file_roles([RoleFacts(file.path, file.language, file.content_hint) for file in files])
    store.put_roles((file.id, role) for file, role in zip(files, found, strict=True) if file.role != role)
    store.set_fact("roles", "")
