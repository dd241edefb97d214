/* subcall.c - see subcall.h: calls of other functions with keywords that a jansson format packs. */
#include "plugins/lib/call/subcall.h"

static json_t *
vcall(call_ctx_t *ctx, fail_t *err, const char *fun, const char *fmt, va_list ap)
{
    json_auto_t *kwargs = fmt != NULL ? json_vpack_ex(NULL, 0, fmt, ap) : json_object();
    json_t *value = NULL;

    salt_assert(kwargs != NULL); /* the format is ours */
    return ctx_call(ctx, fun, NULL, kwargs, &value, err) == 0 ? value : NULL;
}

json_t *
sub_call(call_ctx_t *ctx, fail_t *err, const char *fun, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    json_t *value = vcall(ctx, err, fun, fmt, ap);
    va_end(ap);
    return value;
}

json_t *
sub_call_text(call_ctx_t *ctx, fail_t *err, const char *fun, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    json_auto_t *value = vcall(ctx, err, fun, fmt, ap);
    va_end(ap);
    if (value == NULL || json_is_string(value))
        return STEAL(value);
    AUTO_FREE char *shown = value_repr(value);
    (void) fail_kind(err, FAIL_COMMAND, -EBADMSG, "%s answers %.100s, and not a text", fun, shown);
    return NULL;
}

int
sub_call_bool(call_ctx_t *ctx, fail_t *err, const char *fun, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    json_auto_t *value = vcall(ctx, err, fun, fmt, ap);
    va_end(ap);
    return value != NULL ? value_truthy(value) : err->code;
}
