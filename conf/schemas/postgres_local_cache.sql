-- Tables of the returner postgres_local_cache in PostgreSQL, as Salt has them: psql -d salt -f postgres_local_cache.sql
-- salt-follower adds halite_followers itself.
CREATE TABLE jids (
    jid varchar(20) PRIMARY KEY,
    started timestamp with time zone DEFAULT now(),
    tgt_type text NOT NULL,
    cmd text NOT NULL,
    tgt text NOT NULL,
    kwargs text NOT NULL,
    ret text NOT NULL,
    username text NOT NULL,
    arg text NOT NULL,
    fun text NOT NULL
);
CREATE TABLE salt_returns (
    added timestamp with time zone DEFAULT now(),
    fun text NOT NULL,
    jid varchar(20) NOT NULL,
    return text NOT NULL,
    id text NOT NULL,
    success boolean
);
CREATE INDEX ON salt_returns (added);
CREATE INDEX ON salt_returns (id);
CREATE INDEX ON salt_returns (jid);
CREATE INDEX ON salt_returns (fun);
CREATE TABLE salt_events (
    id serial,
    tag text NOT NULL,
    data text NOT NULL,
    alter_time timestamp with time zone DEFAULT now(),
    master_id text NOT NULL
);
CREATE INDEX ON salt_events (tag);
