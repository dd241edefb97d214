/* mysqlrows.h - rows of arguments that the functions of `mysql` and the states over them share.
 *
 * Layer      plugins/lib/database
 */
#ifndef PLUGINS_LIB_DATABASE_MYSQLROWS_H
#define PLUGINS_LIB_DATABASE_MYSQLROWS_H

#include "salt/plugin.h"

#define MYSQL_ROW_ACCESS                                                                                       \
    ARG("connection_args", ARG_ANY, ARG_STARSTAR,                                                              \
        "How to reach the server, where the options mysql.* do not say so: connection_host, connection_port, " \
        "connection_user, connection_pass, connection_db, connection_unix_socket, connection_default_file, "   \
        "connection_default_group, connection_charset; client_flags",                                          \
        "connection_host connection_port connection_user connection_pass connection_db connection_conv "       \
        "connection_unix_socket connection_default_file connection_default_group connection_charset "          \
        "connection_use_unicode client_flags")
#define MYSQL_ROW_DATABASE ARG("name", ARG_STR, ARG_REQUIRED, "Name of the database")
#define MYSQL_ROWS_CHARSET                                                                                   \
    ARG("character_set", ARG_STR, "null", "Its character set"),                                              \
        ARG("collate", ARG_STR, "null", "Its collation")
#define MYSQL_ROW_HOST ARG("host", ARG_STR, "\"localhost\"", "Host that the user comes from; % is any")
#define MYSQL_ROWS_PASSWORD                                                                                  \
    ARG("password", ARG_ANY, "null", "The password"),                                                        \
        ARG("password_hash", ARG_STR, "null", "The hash of the password, if the password is not given")
#define MYSQL_ROW_PASSWORDLESS                                                                               \
    ARG("allow_passwordless", ARG_ANY, "false", "The user may be without a password")
#define MYSQL_ROW_SOCKET                                                                                     \
    ARG("unix_socket", ARG_ANY, "false",                                                                     \
        "Let in who has this user on the machine: plugin unix_socket, auth_socket")
#define MYSQL_ROW_COLUMN                                                                                     \
    ARG("password_column", ARG_STR, "null", "Column of mysql.user with the hash; by default the server's")
#define MYSQL_ROW_PLUGIN                                                                                     \
    ARG("auth_plugin", ARG_STR, "\"mysql_native_password\"", "How MySQL 8 verifies the password")
#define MYSQL_ROWS_GRANT                                                                                     \
    ARG("grant_option", ARG_ANY, "false", "The user may grant them to others"),                              \
        ARG("escape", ARG_BOOL, "true", "Quote the names of database and table")
#define MYSQL_ROW_SSL                                                                                        \
    ARG("ssl_option", ARG_ANY, "false",                                                                      \
        "What the connection must have: a list of {SSL: True}, {CIPHER: text} ...")

#endif
