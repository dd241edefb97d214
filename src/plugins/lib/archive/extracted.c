/* extracted.c - see extracted.h: what all steps use. */
#include "plugins/lib/archive/extracted.h"

#include "plugins/lib/file/fstate.h"

void
extracted_free(extracted_t *x)
{
    free(x->name);
    free(x->source);
    free(x->shown);
    free(x->cached);
    free(x->note);
    free(x->options);
    json_decref(x->contents);
    json_decref(x->sum);
    json_decref(x->old_sum);
    json_decref(x->files);
    json_decref(x->trim);
}

int
extracted_fail(extracted_t *x, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    (void) state_ret_set(x->ret, STATE_FALSE, "%s", text);
    return 1;
}

json_t *
extracted_arg(const extracted_t *x, const char *key)
{
    json_t *v = value_get(x->args, key);

    return v != NULL && !json_is_null(v) ? v : NULL;
}

bool
extracted_asked(const extracted_t *x, const char *key)
{
    return value_truthy(value_get(x->args, key));
}

json_t *
extracted_extra(const extracted_t *x, const char *key)
{
    return value_get(value_get(x->args, "kwargs"), key);
}
