/* pgrows.h - rows of arguments that the functions of `postgres` and the states over them share.
 *
 * Layer      plugins/lib/database
 */
#ifndef PLUGINS_LIB_DATABASE_PGROWS_H
#define PLUGINS_LIB_DATABASE_PGROWS_H

#include "salt/plugin.h"

#define PG_ROW_NAME(what) ARG("name", ARG_STR, ARG_REQUIRED, "Name of the " what)
#define PG_ROW_DB         ARG("maintenance_db", ARG_STR, "null", "Database to connect to")
#define PG_ROWS_SERVER                                                                                       \
    ARG("user", ARG_STR, "null", "User of the database"),                                                    \
        ARG("host", ARG_STR, "null", "Host, or the folder of the server's socket"),                          \
        ARG("port", ARG_ANY, "null", "The server's port")
#define PG_ROW_PASSWORD ARG("password", ARG_STR, "null", "His password")
#define PG_ROW_RUNAS                                                                                         \
    ARG("runas", ARG_STR, "null", "User on the machine; by default postgres for a local server")
#define PG_ROWS_ACCESS PG_ROWS_SERVER, PG_ROW_DB, PG_ROW_PASSWORD, PG_ROW_RUNAS

/* Of states, and of the functions of schemas. */
#define PG_ROW_USER                                                                                          \
    ARG("user", ARG_STR, "null", "User on the machine; by default postgres for a local server")
#define PG_ROWS_DB                                                                                           \
    ARG("db_password", ARG_STR, "null", "Password of the user of the database"),                             \
        ARG("db_host", ARG_STR, "null", "Host, or the folder of the server's socket"),                       \
        ARG("db_port", ARG_ANY, "null", "The server's port"),                                                \
        ARG("db_user", ARG_STR, "null", "User of the database")
#define PG_ROWS_STATE PG_ROW_USER, PG_ROW_DB, PG_ROWS_DB

#define PG_ROWS_RIGHTS                                                                                       \
    ARG("createdb", ARG_BOOL, "null", "May create databases"),                                               \
        ARG("createroles", ARG_BOOL, "null", "May create roles"),                                            \
        ARG("encrypted", ARG_ANY, "null",                                                                    \
            "How the password is kept: md5 (also True), scram-sha-256, False"),                              \
        ARG("superuser", ARG_BOOL, "null", "May do everything"),                                             \
        ARG("replication", ARG_BOOL, "null", "May replicate"),                                               \
        ARG("inherit", ARG_BOOL, "null", "Has what its groups have"),                                        \
        ARG("login", ARG_BOOL, "null", "May log in")
#define PG_ROW_GROUPS                                                                                        \
    ARG("groups", ARG_ANY, "null", "Roles that it is a member of: a list, or a text with commas")
#define PG_ROW_UNTIL ARG("valid_until", ARG_STR, "null", "When the password ends to be valid")

#define PG_ROWS_EXTENSION                                                                                    \
    ARG("if_not_exists", ARG_ANY, "null", "Without an error where it is there"),                             \
        ARG("schema", ARG_STR, "null", "Schema that it is in"),                                              \
        ARG("ext_version", ARG_ANY, "null", "Its version"),                                                  \
        ARG("from_version", ARG_ANY, "null", "Version of an old one that is not packed as an extension")
#define PG_ROWS_DROP                                                                                         \
    ARG("if_exists", ARG_ANY, "null", "Without an error where it is not there"),                             \
        ARG("restrict", ARG_ANY, "null", "Not while others need it"),                                        \
        ARG("cascade", ARG_ANY, "null", "With those who need it")
#define PG_ROWS_OBJECT                                                                                       \
    PG_ROW_NAME("role"),                                                                                     \
        ARG("object_name", ARG_STR, ARG_REQUIRED, "The object; ALL for all tables or sequences"),            \
        ARG("object_type", ARG_STR, ARG_REQUIRED,                                                            \
            "table, sequence, schema, tablespace, language, database, function or group")
#define PG_ROW_PREPEND ARG("prepend", ARG_STR, "\"public\"", "Schema that the object is in")

#define PG_ROWS_CLUSTER                                                                                      \
    ARG("port", ARG_ANY, "null", "Port of its server"), ARG("locale", ARG_STR, "null", "Its locale"),        \
        ARG("encoding", ARG_STR, "null", "Its encoding"),                                                    \
        ARG("datadir", ARG_STR, "null", "Folder of its data"),                                               \
        ARG("allow_group_access", ARG_ANY, "null", "The owner's group may read the files"),                  \
        ARG("data_checksums", ARG_ANY, "null", "With checksums of the pages"),                               \
        ARG("wal_segsize", ARG_ANY, "null", "Size of a segment of the log, in megabytes")

#define PG_ROWS_INITDB_AUTH                                                                                  \
    ARG("auth", ARG_STR, "\"password\"", "How local users are let in"),                                      \
        ARG("user", ARG_STR, "null", "Name of the superuser; by default the user on the machine"),           \
        ARG("password", ARG_STR, "null", "His password"),                                                    \
        ARG("encoding", ARG_STR, "\"UTF8\"", "The encoding"), ARG("locale", ARG_STR, "null", "The locale")
#define PG_ROWS_INITDB                                                                                       \
    ARG("waldir", ARG_STR, "null", "Folder of the write-ahead log"),                                         \
        ARG("checksums", ARG_ANY, "false", "With checksums of the pages"),                                   \
        ARG("runas", ARG_STR, "null", "User on the machine who will own it; by default postgres")

#endif
