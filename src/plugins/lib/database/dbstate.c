/* dbstate.c - see dbstate.h. */
#include "plugins/lib/database/dbstate.h"

#include <stdarg.h>

#include "plugins/lib/database/mysqlconn.h"
#include "plugins/lib/database/pgconn.h"

static void
dbstate_begin(dbstate_t *self, call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err)
{
    *self = (dbstate_t){ .ctx = ctx, .args = args, .ret = ret, .err = err, .access = json_object() };
}

void
dbstate_mysql(dbstate_t *self, call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err)
{
    dbstate_begin(self, ctx, args, ret, err);
    json_object_update(self->access, value_get(args, "connection_args"));
    if (value_get(args, "client_flags") != NULL)
        json_object_set(self->access, "client_flags", value_get(args, "client_flags"));
    /* An error that an earlier state left is none of this one. */
    json_decref(mysql_error_take(ctx));
}

static void
take_access(dbstate_t *self, const char *const names[][2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_t *v = value_get(self->args, names[i][0]);
        if (v != NULL && !json_is_null(v))
            json_object_set(self->access, names[i][1], v);
    }
}

void
dbstate_postgres(dbstate_t *self, call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err)
{
    static const char *const names[][2] = {
        { "maintenance_db", "maintenance_db" }, { "user", "runas" },   { "db_user", "user" },
        { "db_password", "password" },          { "db_host", "host" }, { "db_port", "port" },
    };

    dbstate_begin(self, ctx, args, ret, err);
    take_access(self, names, NELEMS(names));
}

void
dbstate_schema(dbstate_t *self, call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err)
{
    static const char *const names[][2] = {
        { "dbname", "dbname" },           { "user", "user" },       { "db_user", "db_user" },
        { "db_password", "db_password" }, { "db_host", "db_host" }, { "db_port", "db_port" },
    };

    dbstate_begin(self, ctx, args, ret, err);
    take_access(self, names, NELEMS(names));
}

int
dbstate_end(dbstate_t *self, int rc)
{
    json_decref(STEAL(self->access));
    bool call = self->err->kind != FAIL_COMMAND && self->err->kind != FAIL_UNAVAILABLE;
    return rc < 0 && !call ? state_ret_fail(self->ret, self->err) : rc;
}

static json_t *
dbstate_run(dbstate_t *self, const char *fun, json_t *more)
{
    json_auto_t *kwargs = json_copy(self->access);
    json_t *value = NULL;

    json_object_update(kwargs, more);
    if (ctx_call(self->ctx, fun, NULL, kwargs, &value, self->err) < 0)
        return NULL;
    AUTO_FREE char *unreached = pg_error_take(self->ctx);
    if (unreached == NULL)
        return value;
    (void) fail_kind(self->err, FAIL_COMMAND, -ECONNREFUSED, "%s", unreached);
    json_decref(value);
    return NULL;
}

json_t *
dbstate_call(dbstate_t *self, const char *fun, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    json_auto_t *more = json_vpack_ex(NULL, 0, fmt, ap);
    va_end(ap);
    salt_assert(more != NULL); /* the format is ours */
    return dbstate_run(self, fun, more);
}

int
dbstate_ask_with(dbstate_t *self, const char *fun, const json_t *more)
{
    json_auto_t *value = dbstate_run(self, fun, (json_t *) more);

    return value != NULL ? value_truthy(value) : self->err->code;
}

int
dbstate_ask(dbstate_t *self, const char *fun, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    json_auto_t *more = json_vpack_ex(NULL, 0, fmt, ap);
    va_end(ap);
    salt_assert(more != NULL);
    return dbstate_ask_with(self, fun, more);
}

bool
dbstate_mysql_failed(dbstate_t *self, const char *fmt, ...)
{
    json_auto_t *error = mysql_error_take(self->ctx);
    va_list ap;

    if (error == NULL)
        return false;
    if (fmt == NULL) {
        state_ret_set(self->ret, STATE_FALSE, "%s", json_string_value(error));
        return true;
    }
    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    state_ret_set(self->ret, STATE_FALSE, "%s (%s)", text, json_string_value(error));
    return true;
}
