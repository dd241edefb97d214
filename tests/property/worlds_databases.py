"""States of database servers that run in the sandbox."""
from draw import some
from rows import Row, World, said

YES = [True, False]
PG = "PG=$(ls -d /usr/lib/postgresql/*/bin | tail -1); as() { setpriv --reuid=postgres --regid=postgres --clear-groups \"$@\"; }; "
PG_START = PG + "mkdir -p /run/postgresql; chown postgres: /run/postgresql; as $PG/pg_ctl -D /srv/pg/data -w -l /srv/pg/log -o '-k /run/postgresql -c listen_addresses= -c fsync=off' start >/dev/null 2>&1 </dev/null"
PG_LOOK = """psql -U postgres -h /run/postgresql -qAt -c 'select rolname, rolsuper, rolcreatedb, rolcanlogin, rolreplication, rolinherit, rolpassword, rolvaliduntil from pg_authid order by 1' \
-c 'select r.rolname, m.rolname from pg_auth_members a join pg_roles r on r.oid = a.roleid join pg_roles m on m.oid = a.member order by 1, 2' \
-c 'select datname, datdba::regrole, pg_encoding_to_char(encoding), dattablespace, datacl from pg_database order by 1' -c 'select spcname, spcowner::regrole, spcoptions from pg_tablespace order by 1' \
-c 'select nspname, nspowner::regrole, nspacl from pg_namespace order by 1' -c 'select extname, extversion from pg_extension order by 1' -c 'select lanname from pg_language order by 1' \
-c "select relname, relacl from pg_class where relname = 'tab'" 2>&1; psql -U postgres -h /run/postgresql -d db1 -qAt -c 'select nspname, nspowner::regrole, nspacl from pg_namespace order by 1' 2>&1"""
OWN = ("user", "db_user", "db_password", "db_host", "db_port", "maintenance_db", "runas", "kwargs")
REFUSED = said(".", "the server's own refusal")
MY_LOOK = """mariadb -S /run/my.sock -N -e "show databases; select user, host, authentication_string from mysql.global_priv_v; select table_schema, table_name from information_schema.tables where table_schema like 'db%'; select * from information_schema.schema_privileges order by 1, 2, 3, 4; select * from information_schema.user_privileges order by 1, 2, 3; select default_character_set_name, default_collation_name, schema_name from information_schema.schemata" 2>&1"""

WORLDS = {
    "postgres": World(
        needs="psql setpriv", steps=24, look=PG_LOOK, ignored=("srv/pg",), start=PG_START,
        setup=PG + "mkdir /srv/pg /srv/ts; chown postgres: /srv/pg /srv/ts; as $PG/initdb -D /srv/pg/data -U postgres -A trust -E UTF8 --locale=C -N >/dev/null; " + PG_START
              + "; P='psql -U postgres -h /run/postgresql -qc'; $P 'create role sam login'; $P 'create role grp'; $P 'create database db1'; $P 'create table tab (a int)'; as $PG/pg_ctl -D /srv/pg/data stop >/dev/null",
        rows={
            "postgres_user.present": Row({"name": ["sam", "bob", "a b"]}, {"createdb": YES, "superuser": YES, "login": YES, "replication": YES,
                                                                           "inherit": YES, "password": ["s3cret",
                                                                               "md5aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"], "encrypted": YES,
                                                                           "groups": ["grp", ["grp"]],
                                          "valid_until": ["2036-01-02 03:04:05"], "createroles": YES},
                                         never=OWN + ("rolename", "refresh_password", "default_password"), weight=3, unforeseen=REFUSED, nasty=0.1),
            "postgres_user.absent": Row({"name": ["sam", "bob", "a b"]}, never=OWN, unforeseen=REFUSED),
            "postgres_group.present": Row({"name": ["grp", "new"]}, {"createdb": YES, "superuser": YES, "login": YES, "inherit": YES,
                                                                     "createroles": YES, "groups": ["sam"]},
                                          never=OWN + ("refresh_password", "replication", "encrypted", "password"), unforeseen=REFUSED, nasty=0.1),
            "postgres_group.absent": Row({"name": ["grp", "new"]}, never=OWN, unforeseen=REFUSED),
            "postgres_database.present": Row({"name": ["db1", "db2", "a b"]},
                                             {"owner": ["sam", "postgres"], "encoding": ["UTF8"], "template": ["template0"], "lc_collate": ["C"],
                                              "lc_ctype": ["C"], "tablespace": ["pg_default"], "owner_recurse": [False]},
                                             never=OWN + ("owner_recurse",), unforeseen=REFUSED, nasty=0.1, weight=2),
            "postgres_database.absent": Row({"name": ["db1", "db2", "a b"]}, never=OWN, unforeseen=REFUSED),
            "postgres_schema.present": Row({"dbname": ["db1", "postgres"], "name": ["s1", "S 2", "public"]}, {"owner": ["sam", "postgres"]},
                                           never=OWN, unforeseen=REFUSED, nasty=0.1),
            "postgres_schema.absent": Row({"dbname": ["db1", "postgres"], "name": ["s1", "S 2"]}, never=OWN, unforeseen=REFUSED),
            "postgres_extension.present": Row({"name": ["plpgsql", "nosuch"]}, {"schema": ["public"]},
                                              never=OWN + ("if_not_exists", "ext_version", "from_version"), unforeseen=REFUSED, nasty=0.1),
            "postgres_extension.absent": Row({"name": ["plpgsql", "nosuch"]}, {"if_exists": YES, "restrict": YES, "cascade": YES}, never=OWN,
                                             unforeseen=REFUSED),
            "postgres_language.present": Row({"name": ["plpgsql", "nosuch"], "maintenance_db": "postgres"}, never=OWN, unforeseen=REFUSED),
            "postgres_language.absent": Row({"name": ["plpgsql", "nosuch"], "maintenance_db": "postgres"}, never=OWN, unforeseen=REFUSED),
            "postgres_tablespace.present": Row({"name": ["ts1"], "directory": ["/srv/ts", "/srv/none"]},
                                               {"options": [{"seq_page_cost": 2}], "owner": ["sam", "postgres"]}, never=OWN, unforeseen=REFUSED,
                                               nasty=0.1),
            "postgres_tablespace.absent": Row({"name": ["ts1", "none"]}, never=OWN, unforeseen=REFUSED),
            "postgres_privileges.present": Row({"name": ["sam", "grp"], "object_name": "tab", "object_type": "table"},
                                               {"privileges": [["SELECT", "INSERT"], ["ALL"], ["SELECT"]], "grant_option": YES,
                                                "prepend": ["public"]}, never=OWN, unforeseen=REFUSED, nasty=0.1),
            "postgres_privileges.absent": Row({"name": ["sam", "grp"], "object_name": "tab", "object_type": "table"},
                                              {"privileges": [["SELECT", "INSERT"], ["ALL"]], "prepend": ["public"]}, never=OWN, unforeseen=REFUSED),
        }),
    "mysql": World(
        needs="mariadbd mariadb mariadb-install-db", steps=24, look=MY_LOOK, ignored=("srv/my", "root/.mysql_history", "root/.mariadb_history"),
                   minion={"mysql.unix_socket": "/run/my.sock", "mysql.user": "root"},
        setup="mkdir /srv/my; mariadb-install-db --no-defaults --user=root --datadir=/srv/my/data --auth-root-authentication-method=normal >/dev/null 2>&1",
        start="mariadbd --no-defaults --user=root --datadir=/srv/my/data --socket=/run/my.sock --skip-networking --innodb-flush-log-at-trx-commit=0 >/dev/null 2>&1 </dev/null & n=0; until mariadb -S /run/my.sock -e 'select 1' >/dev/null 2>&1; do n=$((n + 1)); [ $n -lt 300 ]; sleep 0.1; done; mariadb -S /run/my.sock -e \"create view mysql.global_priv_v as select user, host, json_value(priv, '\\$.authentication_string') authentication_string from mysql.global_priv; create database db1; create table db1.t (a int); create user bob@localhost identified by 'old'\"",
        rows={
            "mysql_database.present": Row({"name": ["db1", "db2", "a b", "it`s"]},
                                          {"character_set": ["utf8mb4", "latin1"], "collate": ["utf8mb4_bin"]}, never=("kwargs",), unforeseen=REFUSED,
                                          nasty=0.1),
            "mysql_database.absent": Row({"name": ["db1", "db2", "a b", "it`s"]}, never=("kwargs",), unforeseen=REFUSED),
            "mysql_user.present": Row({"name": ["bob", "new", "it's"], "host": ["localhost", "%"]},
                                      {"password": ["s", "old"], "allow_passwordless": YES,
                                       "password_hash": ["*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19"]},
                                      never=("kwargs", "unix_socket", "password_column", "auth_plugin"), unforeseen=REFUSED, weight=2, nasty=0.1),
            "mysql_user.absent": Row({"name": ["bob", "new", "it's"], "host": ["localhost", "%"]}, never=("kwargs",), unforeseen=REFUSED),
            "mysql_grants.present": Row({"name": "g", "grant": ["select", "select,insert", "all privileges"], "database": ["db1.*", "*.*", "db1.t"],
                                         "user": ["bob", "bob", "none"]}, {"grant_option": YES, "host": ["localhost"]},
                                        never=("kwargs", "escape", "revoke_first", "ssl_option"), unforeseen=REFUSED, weight=2, nasty=0.1),
            "mysql_grants.absent": Row({"name": "g", "grant": ["select", "select,insert", "all privileges"], "database": ["db1.*", "*.*", "db1.t"],
                                        "user": ["bob", "bob", "none"]}, {"grant_option": YES, "host": ["localhost"]}, never=("kwargs", "escape"),
                                       unforeseen=REFUSED),
        }),
    "redis": World(
        needs="redis-server redis-cli", look="redis-cli --scan | sort | while read -r k; do echo \"$k $(redis-cli get \"$k\")\"; done",
                   ignored=("srv/redis",), steps=12, minion={"redis.host": "localhost"},
        start="mkdir -p /srv/redis; cd /srv/redis; redis-server --daemonize yes --save '' --dir /srv/redis >/dev/null; until redis-cli ping >/dev/null 2>&1; do sleep 0.05; done; redis-cli set foo bar >/dev/null",
        rows={
            "redis.string": Row({"name": ["foo", "new", "a b"], "value": ["bar", "x y", 5, ""]},
                                never=("expire", "expireat", "connection", "connection_args", "kwargs"), nasty=0.1),
            "redis.absent": Row({"name": ["foo", "new", "a b"]}, {"keys": [["foo", "new"]]}, never=("connection", "connection_args", "kwargs"),
                                nasty=0.1),
        }),
    "initdb": World(
        needs="setpriv psql", steps=4, setup="mkdir /srv/pg; chown postgres: /srv/pg", ignored=("srv/pg",), look="ls -d /srv/pg/* 2>&1",
        rows={
            "postgres_initdb.present": Row({"name": ["/srv/pg/a", "/srv/pg/b"], "runas": "postgres"},
                                           {"auth": ["trust"], "encoding": ["UTF8"], "checksums": YES}, tame=("name", "runas"),
                                           never=("user", "password", "locale", "waldir"), unforeseen=REFUSED),
        }),
}
