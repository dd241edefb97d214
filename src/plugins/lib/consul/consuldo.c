/* consuldo.c - see consul.h: functions that are one request. */
#include "plugins/lib/consul/consul.h"

#include "common/base/str.h"

/* The argument in the path, and the keyword that the function needs besides. 1: go on, 0: *ret_value is the
 * return, negative with *err. */
static int
consul_needs(const consul_do_t *what, const json_t *args, json_t **ret_value, fail_t *err)
{
    const char *open = strchr(what->path, '{'), *lacks = NULL;
    AUTO_FREE char *inside = open != NULL ? xstrndup(open + 1, strcspn(open, "}") - 1) : NULL;

    if (inside != NULL && !str_eq(inside, what->needs) && !value_truthy(consul_given(args, inside)))
        lacks = inside;
    if (lacks == NULL && what->needs != NULL && consul_given(args, what->needs) == NULL) {
        if (what->missing != NULL) {
            *ret_value = consul_said(false, "message", what->missing, args);
            return 0;
        }
        lacks = what->needs;
    }
    return lacks == NULL
               ? 1
               : fail_kind(err, FAIL_INVOCATION, -EINVAL, "Required argument \"%s\" is missing.", lacks);
}

/* The function's return of an answer. NEW. */
json_t *
consul_told(const consul_do_t *what, const json_t *args, json_t *answer)
{
    if (what->done == NULL)
        return json_incref(answer);
    bool res = json_is_true(value_get(answer, "res"));
    json_t *ret = consul_said(res, "message", res ? what->done : what->failed, args);
    if (res && what->answer != NULL)
        json_object_set(ret, what->answer, value_get(answer, "data"));
    if (what->errors && value_get(answer, "error") != NULL)
        json_object_set(ret, "error", value_get(answer, "error"));
    return ret;
}

/* Sends the request of the row with a body of its own; `data` is TAKEN. */
int
consul_ask_with(call_ctx_t *ctx, const json_t *args, json_t *data, json_t **ret_value, fail_t *err)
{
    const consul_do_t *what = ctx_row(ctx)->data.ptr;
    json_auto_t *body = data, *query = consul_members(args, what->query);
    AUTO_FREE char *url = consul_url(ctx, args, ret_value, err), *path = consul_text(what->path, args);

    if (url == NULL)
        return *ret_value != NULL ? 0 : err->code;
    int rc = consul_needs(what, args, ret_value, err);
    if (rc <= 0)
        return rc;
    json_auto_t *answer = consul_send(ctx, args, url, what->method, path, query, body, err);
    if (answer == NULL)
        return err->code;
    *ret_value = consul_told(what, args, answer);
    return 0;
}

int
consul_ask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const consul_do_t *what = ctx_row(ctx)->data.ptr;

    return consul_ask_with(ctx, args, consul_members(args, what->body), ret_value, err);
}

/* Ends a function with a message before anything is asked, but after the address is known. */
int
consul_refuse(call_ctx_t *ctx, const json_t *args, const char *message, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *url = consul_url(ctx, args, ret_value, err);

    if (url == NULL)
        return *ret_value != NULL ? 0 : err->code;
    *ret_value = consul_said(false, "message", message, args);
    return 0;
}
