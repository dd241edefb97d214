-- Tables of the returner pgjsonb in PostgreSQL, as Salt has them: psql -d salt -f pgjsonb.sql
-- salt-follower adds halite_followers itself. A portal that searches in return or data adds GIN indexes on them.
CREATE TABLE jids (
    jid varchar(255) PRIMARY KEY,
    load jsonb NOT NULL
);
CREATE TABLE salt_returns (
    fun varchar(50) NOT NULL,
    jid varchar(255) NOT NULL,
    return jsonb NOT NULL,
    full_ret jsonb,
    id varchar(255) NOT NULL,
    success varchar(10) NOT NULL,
    alter_time timestamp with time zone DEFAULT now()
);
CREATE INDEX idx_salt_returns_id ON salt_returns (id);
CREATE INDEX idx_salt_returns_jid ON salt_returns (jid);
CREATE INDEX idx_salt_returns_fun ON salt_returns (fun);
CREATE INDEX idx_salt_returns_updated ON salt_returns (alter_time);
CREATE SEQUENCE seq_salt_events_id;
CREATE TABLE salt_events (
    id bigint NOT NULL UNIQUE DEFAULT nextval('seq_salt_events_id'),
    tag varchar(255) NOT NULL,
    data jsonb NOT NULL,
    alter_time timestamp with time zone DEFAULT now(),
    master_id varchar(255) NOT NULL
);
CREATE INDEX idx_salt_events_tag ON salt_events (tag);
