/* pgrows.h - rows of arguments that the functions of `postgres` and the states over them share.
 *
 * Layer      plugins/lib/database
 */
#ifndef PLUGINS_LIB_DATABASE_PGROWS_H
#define PLUGINS_LIB_DATABASE_PGROWS_H

#include "salt/plugin.h"

#define PG_ROW_NAME(what) ROW("name", ARG_STR, ARG_REQUIRED, "Name of the " what)
#define PG_ROW_DB         ROW("maintenance_db", ARG_STR, "null", "Database to connect to")
#define PG_ROWS_SERVER                                                                                       \
    ROW("user", ARG_STR, "null", "User of the database"),                                                    \
        ROW("host", ARG_STR, "null", "Host, or the folder of the server's socket"),                          \
        ROW("port", ARG_ANY, "null", "The server's port")
#define PG_ROW_PASSWORD ROW("password", ARG_STR, "null", "His password")
#define PG_ROW_RUNAS                                                                                         \
    ROW("runas", ARG_STR, "null", "User on the machine; by default postgres for a local server")
#define PG_ROWS_ACCESS PG_ROWS_SERVER, PG_ROW_DB, PG_ROW_PASSWORD, PG_ROW_RUNAS

/* Of states, and of the functions of schemas. */
#define PG_ROW_USER                                                                                          \
    ROW("user", ARG_STR, "null", "User on the machine; by default postgres for a local server")
#define PG_ROWS_DB                                                                                           \
    ROW("db_password", ARG_STR, "null", "Password of the user of the database"),                             \
        ROW("db_host", ARG_STR, "null", "Host, or the folder of the server's socket"),                       \
        ROW("db_port", ARG_ANY, "null", "The server's port"),                                                \
        ROW("db_user", ARG_STR, "null", "User of the database")
#define PG_ROWS_STATE PG_ROW_USER, PG_ROW_DB, PG_ROWS_DB

#define PG_ROWS_RIGHTS                                                                                       \
    ROW("createdb", ARG_BOOL, "null", "May create databases"),                                               \
        ROW("createroles", ARG_BOOL, "null", "May create roles"),                                            \
        ROW("encrypted", ARG_ANY, "null",                                                                    \
            "How the password is kept: md5 (also True), scram-sha-256, False"),                              \
        ROW("superuser", ARG_BOOL, "null", "May do everything"),                                             \
        ROW("replication", ARG_BOOL, "null", "May replicate"),                                               \
        ROW("inherit", ARG_BOOL, "null", "Has what its groups have"),                                        \
        ROW("login", ARG_BOOL, "null", "May log in")
#define PG_ROW_GROUPS                                                                                        \
    ROW("groups", ARG_ANY, "null", "Roles that it is a member of: a list, or a text with commas")
#define PG_ROW_UNTIL ROW("valid_until", ARG_STR, "null", "When the password ends to be valid")

#define PG_ROWS_EXTENSION                                                                                    \
    ROW("if_not_exists", ARG_ANY, "null", "Without an error where it is there"),                             \
        ROW("schema", ARG_STR, "null", "Schema that it is in"),                                              \
        ROW("ext_version", ARG_ANY, "null", "Its version"),                                                  \
        ROW("from_version", ARG_ANY, "null", "Version of an old one that is not packed as an extension")
#define PG_ROWS_DROP                                                                                         \
    ROW("if_exists", ARG_ANY, "null", "Without an error where it is not there"),                             \
        ROW("restrict", ARG_ANY, "null", "Not while others need it"),                                        \
        ROW("cascade", ARG_ANY, "null", "With those who need it")
#define PG_ROWS_OBJECT                                                                                       \
    PG_ROW_NAME("role"),                                                                                     \
        ROW("object_name", ARG_STR, ARG_REQUIRED, "The object; ALL for all tables or sequences"),            \
        ROW("object_type", ARG_STR, ARG_REQUIRED,                                                            \
            "table, sequence, schema, tablespace, language, database, function or group")
#define PG_ROW_PREPEND ROW("prepend", ARG_STR, "\"public\"", "Schema that the object is in")

#define PG_ROWS_CLUSTER                                                                                      \
    ROW("port", ARG_ANY, "null", "Port of its server"), ROW("locale", ARG_STR, "null", "Its locale"),        \
        ROW("encoding", ARG_STR, "null", "Its encoding"),                                                    \
        ROW("datadir", ARG_STR, "null", "Folder of its data"),                                               \
        ROW("allow_group_access", ARG_ANY, "null", "The owner's group may read the files"),                  \
        ROW("data_checksums", ARG_ANY, "null", "With checksums of the pages"),                               \
        ROW("wal_segsize", ARG_ANY, "null", "Size of a segment of the log, in megabytes")

#define PG_ROWS_INITDB_AUTH                                                                                  \
    ROW("auth", ARG_STR, "\"password\"", "How local users are let in"),                                      \
        ROW("user", ARG_STR, "null", "Name of the superuser; by default the user on the machine"),           \
        ROW("password", ARG_STR, "null", "His password"),                                                    \
        ROW("encoding", ARG_STR, "\"UTF8\"", "The encoding"), ROW("locale", ARG_STR, "null", "The locale")
#define PG_ROWS_INITDB                                                                                       \
    ROW("waldir", ARG_STR, "null", "Folder of the write-ahead log"),                                         \
        ROW("checksums", ARG_ANY, "false", "With checksums of the pages"),                                   \
        ROW("runas", ARG_STR, "null", "User on the machine who will own it; by default postgres")

#endif
