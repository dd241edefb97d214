/* mysqlconn.c - see mysqlconn.h. libmariadb or libmysqlclient is loaded when it is first needed: the minion
 * runs without either. Both have the same calls, and the numbers and structures below are the same in both,
 * so that no header of theirs is needed to build. */
#include "plugins/lib/database/mysqlconn.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/host/library.h"
#include "plugins/lib/database/mysqltext.h"
#include "salt/log.h"

#define MYSQL_ERROR_KEY "mysql.error"
enum { NET_PACKET_TOO_LARGE = 1153 };

/* ---- the library ------------------------------------------------------------------------------ */

typedef struct my_handle my_handle_t; /* MYSQL */
typedef struct my_result my_result_t; /* MYSQL_RES */

/* MYSQL_FIELD; both libraries have this layout since their first releases with these names. */
typedef struct my_field {
    char *name, *org_name, *table, *org_table, *db, *catalog, *dflt;
    unsigned long length, max_length;
    unsigned name_length, org_name_length, table_length, org_table_length, db_length, catalog_length,
        dflt_length, flags, decimals, charsetnr;
    int type;
    void *extension;
} my_field_t;

/* Numbers of mysql_option and of column types. */
enum {
    OPT_CONNECT_TIMEOUT = 0,
    OPT_DEFAULT_FILE = 4,
    OPT_DEFAULT_GROUP = 5,
    OPT_CHARSET = 7,
    OPT_LOCAL_INFILE = 8,
    OPT_READ_TIMEOUT = 11,
    OPT_WRITE_TIMEOUT = 12
};
enum {
    TYPE_TINY = 1,
    TYPE_SHORT = 2,
    TYPE_LONG = 3,
    TYPE_FLOAT = 4,
    TYPE_DOUBLE = 5,
    TYPE_LONGLONG = 8,
    TYPE_INT24 = 9,
    TYPE_YEAR = 13
};

static struct my_lib {
    my_handle_t *(*init)(my_handle_t *);
    int (*options)(my_handle_t *, int option, const void *value);
    my_handle_t *(*real_connect)(my_handle_t *, const char *host, const char *user, const char *password,
                                 const char *db, unsigned port, const char *socket, unsigned long flags);
    void (*close)(my_handle_t *);
    int (*real_query)(my_handle_t *, const char *sql, unsigned long len);
    my_result_t *(*use_result)(my_handle_t *);
    unsigned (*num_fields)(my_result_t *);
    my_field_t *(*fetch_fields)(my_result_t *);
    char **(*fetch_row)(my_result_t *);
    unsigned long *(*fetch_lengths)(my_result_t *);
    void (*free_result)(my_result_t *);
    int (*next_result)(my_handle_t *);
    unsigned long long (*affected_rows)(my_handle_t *);
    unsigned (*errnum)(my_handle_t *);
    const char *(*error)(my_handle_t *);
    unsigned long (*escape)(my_handle_t *, char *to, const char *from, unsigned long len);
} my_lib;
static bool my_lib_loaded;
static pthread_mutex_t my_lib_lock = PTHREAD_MUTEX_INITIALIZER;

#define MY_SYMBOL(symbol, member) ROW("mysql_" symbol, offsetof(struct my_lib, member))
static const library_symbol_t my_symbols[] = {
    MY_SYMBOL("init", init),
    MY_SYMBOL("options", options),
    MY_SYMBOL("real_connect", real_connect),
    MY_SYMBOL("close", close),
    MY_SYMBOL("real_query", real_query),
    MY_SYMBOL("use_result", use_result),
    MY_SYMBOL("num_fields", num_fields),
    MY_SYMBOL("fetch_fields", fetch_fields),
    MY_SYMBOL("fetch_row", fetch_row),
    MY_SYMBOL("fetch_lengths", fetch_lengths),
    MY_SYMBOL("free_result", free_result),
    MY_SYMBOL("next_result", next_result),
    MY_SYMBOL("affected_rows", affected_rows),
    MY_SYMBOL("errno", errnum),
    MY_SYMBOL("error", error),
    MY_SYMBOL("real_escape_string", escape),
};

/* Opens the library with all that is needed of it: libmariadb first, as most distributions have that one.
 * NULL: there is none. */
static void *
my_library(struct my_lib *into)
{
    static const char *const names[] = { "libmariadb.so.3", "libmysqlclient.so.24", "libmysqlclient.so.21",
                                         NULL };

    return library_open(names, my_symbols, NELEMS(my_symbols), into, NULL);
}

/* A look alone does not keep the library: who lists modules has no use for it. */
const char *
mysqlconn_missing(call_ctx_t *ctx)
{
    struct my_lib found;
    void *library = my_library(&found);

    if (library == NULL)
        return "No mysql client library installed: install the package libmariadb3 (Debian, Ubuntu, SUSE) or "
               "mariadb-connector-c (Fedora, RHEL)";
    (void) dlclose(library);
    return NULL;
}

/* ---- errors ----------------------------------------------------------------------------------- */

/* Salt's functions answer False or an empty list on a failure and leave the text in __context__, where the
 * states look for it. */
void
mysql_error_set(call_ctx_t *ctx, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    log_error("%s", text);
    json_object_set_new(ctx_context(ctx), MYSQL_ERROR_KEY, value_utf8(text, strlen(text)));
}

/* The text, once: who takes it has told it. NEW, or NULL. */
json_t *
mysql_error_take(call_ctx_t *ctx)
{
    json_t *error = value_get(ctx_context(ctx), MYSQL_ERROR_KEY);

    if (error == NULL)
        return NULL;
    json_incref(error);
    json_object_del(ctx_context(ctx), MYSQL_ERROR_KEY);
    return error;
}

const char *
mysql_error_text(call_ctx_t *ctx)
{
    return value_str(ctx_context(ctx), MYSQL_ERROR_KEY, "");
}

/* ---- the connection --------------------------------------------------------------------------- */

struct mysqlconn {
    call_ctx_t *ctx;
    my_handle_t *handle;
    json_t *columns, *rows, *version;
    json_int_t count;
    size_t held;    /* bytes of the rows */
    size_t longest; /* bytes of a statement; 0: any */
    bool secret, as_text;
};

/* Keeps the library's error. A syntax error quotes the statement, which is left out where it has a secret. */
static int
my_failed(mysqlconn_t *self)
{
    AUTO_FREE char *text = xstrdup(my_lib.error(self->handle));
    char *quoted = strstr(text, " near '");

    if (self->secret && quoted != NULL)
        *quoted = '\0';
    mysql_error_set(self->ctx, "MySQL Error %u: %s", my_lib.errnum(self->handle), text);
    self->secret = false;
    return -1;
}

/* The connection's settings: by the name of the argument without "connection_", NEW object of what is set.
 * Arguments go before the options mysql.host, mysql.user and so on. A default file of the caller's keeps the
 * options out, as in Salt: what stands in it must not be overridden by them. */
static json_t *
my_settings(call_ctx_t *ctx, const json_t *kwargs)
{
    static const char *const names[] = { "host",        "user",         "pass",          "port",   "db",
                                         "unix_socket", "default_file", "default_group", "charset" };
    bool ask = value_get(kwargs, "connection_default_file") == NULL;
    json_t *found = json_object();

    for (size_t i = 0; i < NELEMS(names); i++) {
        AUTO_FREE char *arg = xasprintf("connection_%s", names[i]), *option = xasprintf("mysql.%s", names[i]);
        json_t *given = value_get(kwargs, arg);
        json_auto_t *set = NULL;
        if (given == NULL && (ask || strcmp(names[i], "charset") == 0)) {
            json_auto_t *name = json_pack("[s]", option);
            (void) ctx_call(ctx, "config.option", name, NULL, &set, NULL);
            given = set;
        }
        if (value_truthy(given)) {
            AUTO_FREE char *text = value_pystr(given);
            json_object_set_new(found, names[i], json_string(text));
        }
    }
    return found;
}

/* Names of the capabilities that a client may ask for. */
static const struct my_flag {
    const char *name;
    unsigned bit;
} my_flags[] = {
    { "long_password", 0 },   { "found_rows", 1 },    { "long_flag", 2 },          { "no_schema", 4 },
    { "compress", 5 },        { "odbc", 6 },          { "local_files", 7 },        { "ignore_space", 8 },
    { "change_user", 9 },     { "protocol_41", 9 },   { "interactive", 10 },       { "ssl", 11 },
    { "ignore_sigpipe", 12 }, { "transactions", 13 }, { "secure_connection", 15 }, { "multi_statements", 16 },
    { "multi_results", 17 },
};

/* An unknown name is logged and left out, as in Salt. */
static unsigned long
my_flags_of(const json_t *names)
{
    unsigned long flags = 0;
    json_t *name;
    size_t i, k;

    json_array_foreach ((json_t *) names, i, name) {
        AUTO_FREE char *text = value_pystr(name);
        for (k = 0; k < NELEMS(my_flags) && strcmp(my_flags[k].name, text) != 0; k++)
            continue;
        if (k < NELEMS(my_flags))
            flags |= 1UL << my_flags[k].bit;
        else
            log_error("MySQL client flag %s not valid, ignoring.", text);
    }
    return flags;
}

mysqlconn_t *
mysqlconn_open(call_ctx_t *ctx, const json_t *kwargs)
{
    const char *missing = NULL;
    static const unsigned connect_s = LIMIT_SQL_CONNECT_S, answer_s = LIMIT_SQL_ANSWER_S;
    unsigned long flags = my_flags_of(value_get(kwargs, "client_flags"));
    const unsigned local = (flags & (1UL << 7)) != 0;
    long long port = 0;

    /* Loaded for good, by the first that needs it. */
    (void) pthread_mutex_lock(&my_lib_lock);
    my_lib_loaded = my_lib_loaded || my_library(&my_lib) != NULL;
    if (!my_lib_loaded)
        missing = mysqlconn_missing(ctx);
    (void) pthread_mutex_unlock(&my_lib_lock);
    if (missing != NULL) {
        mysql_error_set(ctx, "%s", missing);
        return NULL;
    }
    json_auto_t *set = my_settings(ctx, kwargs);
    const char *port_text = value_str(set, "port", "0"), *file = value_str(set, "default_file", NULL),
               *group = value_str(set, "default_group", NULL);
    if (!str_to_int(port_text, 0, 65535, &port)) {
        mysql_error_set(ctx, "MySQL Error: port '%s' is no number from 0 to 65535", port_text);
        return NULL;
    }
    mysqlconn_t *self = xcalloc(1, sizeof(*self));
    self->ctx = ctx;
    self->handle = my_lib.init(NULL);
    salt_assert(self->handle != NULL);
    (void) my_lib.options(self->handle, OPT_CONNECT_TIMEOUT, &connect_s);
    (void) my_lib.options(self->handle, OPT_READ_TIMEOUT, &answer_s);
    (void) my_lib.options(self->handle, OPT_WRITE_TIMEOUT, &answer_s);
    /* Off unless it is asked for: with it, a server may ask for any file that this process can read. */
    (void) my_lib.options(self->handle, OPT_LOCAL_INFILE, &local);
    if (file != NULL)
        (void) my_lib.options(self->handle, OPT_DEFAULT_FILE, file);
    if (file != NULL || group != NULL)
        (void) my_lib.options(self->handle, OPT_DEFAULT_GROUP, group != NULL ? group : "client");
    /* All texts here are UTF-8; "utf8" of old servers lacks what needs four bytes. */
    (void) my_lib.options(self->handle, OPT_CHARSET, value_str(set, "charset", "utf8mb4"));
    if (my_lib.real_connect(self->handle, value_str(set, "host", NULL), value_str(set, "user", NULL),
                            value_str(set, "pass", NULL), value_str(set, "db", NULL), (unsigned) port,
                            value_str(set, "unix_socket", NULL), flags) == NULL) {
        (void) my_failed(self);
        mysqlconn_destroy(&self);
    }
    return self;
}

/* Lets go of the last answer. The connection stays. */
static void
my_forget(mysqlconn_t *self)
{
    json_decref(STEAL(self->columns));
    json_decref(STEAL(self->rows));
    self->count = 0;
    self->held = 0;
}

void
mysqlconn_destroy(mysqlconn_t **self_p)
{
    mysqlconn_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    my_forget(self);
    json_decref(self->version);
    my_lib.close(self->handle);
    free(self);
}

/* ---- statements ------------------------------------------------------------------------------- */

/* A value of a row as Python's drivers give it. NEW. All types come as texts from the server. Numbers with a
 * fraction in decimal stay texts: a float would lose digits of them. */
static json_t *
my_value(const mysqlconn_t *self, int type, const char *bytes, size_t len)
{
    long long number;

    if (bytes == NULL)
        return json_null();
    switch (self->as_text ? -1 : type) {
    case TYPE_TINY:
    case TYPE_SHORT:
    case TYPE_LONG:
    case TYPE_LONGLONG:
    case TYPE_INT24:
    case TYPE_YEAR:
        if (str_to_int(bytes, LLONG_MIN, LLONG_MAX, &number))
            return json_integer(number);
        break;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return json_real(strtod(bytes, NULL));
    default:
        break;
    }
    return value_utf8(bytes, len);
}

/* Reads a result, as much as an answer may hold. 0 or -1. Rows are fetched one after the other, and not
 * stored by the library, so that the bound counts before the memory is taken. */
static int
my_read(mysqlconn_t *self, my_result_t *result)
{
    unsigned n = my_lib.num_fields(result);
    my_field_t *fields = my_lib.fetch_fields(result);
    char **row;

    my_forget(self);
    self->columns = json_array();
    self->rows = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(self->columns, value_utf8(fields[i].name, strlen(fields[i].name)));
    while ((row = my_lib.fetch_row(result)) != NULL) {
        unsigned long *lengths = my_lib.fetch_lengths(result);
        json_t *list = json_array();
        for (unsigned i = 0; i < n; i++) {
            self->held += lengths[i] + sizeof(json_t *);
            json_array_append_new(list, my_value(self, fields[i].type, row[i], lengths[i]));
        }
        json_array_append_new(self->rows, list);
        if (self->held > LIMIT_CMD_OUTPUT) {
            mysql_error_set(self->ctx, "MySQL Error: the answer is larger than %d bytes: ask for less",
                            LIMIT_CMD_OUTPUT);
            return -1;
        }
    }
    self->count = (json_int_t) json_array_size(self->rows);
    return my_lib.errnum(self->handle) == 0 ? 0 : my_failed(self);
}

/* Runs the statement; of several results (client_flags has multi_statements) the last one stays. All results
 * are read to the end even after a failure, as the connection takes no other statement before. */
static int
my_send(mysqlconn_t *self, const char *sql, size_t len)
{
    int more = 0;

    my_forget(self);
    /* The server would end the connection over a packet that is too large; this error leaves it usable. */
    if (self->longest > 0 && len > self->longest) {
        mysql_error_set(self->ctx,
                        "MySQL Error %d: a statement of %zu bytes, more than max_allowed_packet: %zu",
                        NET_PACKET_TOO_LARGE, len, self->longest);
        return -1;
    }
    int rc = my_lib.real_query(self->handle, sql, len);
    if (rc != 0)
        return my_failed(self);
    do {
        my_result_t *result = my_lib.use_result(self->handle);
        if (result != NULL) {
            rc = my_read(self, result);
            my_lib.free_result(result);
        } else if (my_lib.errnum(self->handle) != 0) {
            rc = my_failed(self);
        } else {
            self->count = (json_int_t) my_lib.affected_rows(self->handle);
        }
        more = rc == 0 ? my_lib.next_result(self->handle) : -1;
        if (more > 0)
            rc = my_failed(self);
    } while (more == 0);
    self->secret = false;
    return rc;
}

int
mysqlconn_run_text(mysqlconn_t *self, const char *sql)
{
    return my_send(self, sql, strlen(sql));
}

/* "?" is a value between quotes, "~" a name between backticks, "$" a text as it is. The statement is wiped
 * afterwards, as it may hold a password. */
int
mysqlconn_run(mysqlconn_t *self, const char *sql, ...)
{
    buf_auto_t out = BUF_INIT;
    va_list ap;

    va_start(ap, sql);
    for (; *sql != '\0'; sql++) {
        if (strchr("?~$", *sql) == NULL) {
            buf_putc(&out, *sql);
            continue;
        }
        const char *given = va_arg(ap, const char *);
        if (*sql == '?') {
            size_t len = strlen(given);
            AUTO_FREE char *escaped = xcalloc(1, 2 * len + 1);
            my_lib.escape(self->handle, escaped, given, len);
            buf_printf(&out, "'%s'", escaped);
        } else if (*sql == '~')
            mysqltext_name(&out, given);
        else
            buf_puts(&out, given);
    }
    va_end(ap);
    int rc = my_send(self, buf_str(&out), out.len);
    if (out.data != NULL)
        explicit_bzero(out.data, out.len);
    return rc;
}

/* Until the next statement has run, errors do not quote it. */
void
mysqlconn_secret(mysqlconn_t *self)
{
    self->secret = true;
}

/* Asks the server how long a statement may be, so that a longer one is refused here. */
int
mysqlconn_bound(mysqlconn_t *self)
{
    enum { COMMAND = 1 }; /* the byte before a statement */
    long long bytes = 0;

    if (mysqlconn_run_text(self, "SELECT @@max_allowed_packet") < 0)
        return -1;
    AUTO_FREE char *said = value_pystr(json_array_get(json_array_get(self->rows, 0), 0));
    if (str_to_int(said, COMMAND + 1, LLONG_MAX, &bytes))
        self->longest = (size_t) bytes - COMMAND;
    return 0;
}

/* Values of all types are texts from here on; returners read them so. */
void
mysqlconn_as_text(mysqlconn_t *self)
{
    self->as_text = true;
}

/* ---- results ---------------------------------------------------------------------------------- */

json_t *
mysqlconn_rows(const mysqlconn_t *self)
{
    return self->rows;
}

json_t *
mysqlconn_columns(const mysqlconn_t *self)
{
    return self->columns;
}

json_int_t
mysqlconn_count(const mysqlconn_t *self)
{
    return self->count;
}

/* Two columns with one name: the later one stays. NEW. */
json_t *
mysqlconn_dicts(const mysqlconn_t *self)
{
    json_t *out = json_array(), *row, *name;
    size_t i, k;

    json_array_foreach (self->rows, i, row) {
        json_t *dict = json_object();
        json_array_foreach (self->columns, k, name)
            json_object_set(dict, json_string_value(name), json_array_get(row, k));
        json_array_append_new(out, dict);
    }
    return out;
}

json_t *
mysqlconn_first(const mysqlconn_t *self, size_t column)
{
    return json_array_get(json_array_get(self->rows, 0), column);
}

/* Asked once; "" when the server does not say it. */
const char *
mysqlconn_version(mysqlconn_t *self)
{
    if (self->version == NULL && mysqlconn_run(self, "SELECT VERSION()") == 0)
        self->version = json_incref(mysqlconn_first(self, 0));
    return self->version != NULL ? json_string_value(self->version) : "";
}
