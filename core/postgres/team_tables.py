"""The tables of a team on a PostgreSQL server: its repositories and groups, what is to be indexed, and who may ask.

They are small, so they are not partitioned. `TEXT` sorts by bytes, as in the other tables.
"""

# A repository of a team has a source, a workspace that someone opened has none. `revision` is the indexed commit.
_REPOSITORIES = """
ALTER TABLE repository
    ADD COLUMN source TEXT NOT NULL DEFAULT '',  -- the folder or mirror that workers read
    ADD COLUMN branch TEXT NOT NULL DEFAULT '',  -- the branch to follow; empty: the default branch
    ADD COLUMN revision TEXT NOT NULL DEFAULT '',
    ADD COLUMN indexed timestamptz;

CREATE TABLE team_group (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE group_repository (
    group_id integer NOT NULL REFERENCES team_group ON DELETE CASCADE,
    repo integer NOT NULL REFERENCES repository ON DELETE CASCADE,
    PRIMARY KEY (group_id, repo)
);
CREATE INDEX ON group_repository (repo);
"""

# One job for each repository that is to be indexed. A worker owns it until the lease ends, and renews the lease while
# it works; `asked` is later than `taken` if the repository changed again meanwhile.
_JOBS = """
CREATE TABLE job (
    repo integer PRIMARY KEY REFERENCES repository ON DELETE CASCADE,
    asked timestamptz NOT NULL DEFAULT now(),
    not_before timestamptz NOT NULL DEFAULT now(),  -- later after a failure
    worker TEXT NOT NULL DEFAULT '',
    taken timestamptz,
    lease timestamptz,
    failures integer NOT NULL DEFAULT 0,
    problem TEXT NOT NULL DEFAULT ''
);
CREATE INDEX ON job (not_before);
"""

# Only a hash of a token is stored.
_TOKENS = """
CREATE TABLE access_token (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    hash bytea NOT NULL UNIQUE,
    created timestamptz NOT NULL DEFAULT now(),
    expires timestamptz,
    revoked timestamptz,
    calls_per_minute integer NOT NULL
);
CREATE TABLE token_group (
    token_id integer NOT NULL REFERENCES access_token ON DELETE CASCADE,
    group_id integer NOT NULL REFERENCES team_group ON DELETE CASCADE,
    PRIMARY KEY (token_id, group_id)
);

-- How many calls each token made in its last minute with one; all servers count here. Losing it in a crash is no harm.
CREATE UNLOGGED TABLE token_calls (
    token TEXT PRIMARY KEY,
    minute timestamptz NOT NULL,
    calls integer NOT NULL
);
"""

TEAM_TABLES = _REPOSITORIES + _JOBS + _TOKENS
