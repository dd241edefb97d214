/* saidwords.c - see saidwords.h. */
#include "plugins/lib/salt/saidwords.h"

#include "common/data/args.h"
#include "common/plugin/call.h"

int
saidwords_check(call_ctx_t *ctx, const json_t *list, fail_t *err)
{
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const char *text = json_is_string(one) ? json_string_value(one) : "";
        size_t len = args_keyword_len(text);
        spans_auto_t said = SPANS_INIT;
        if (len > 0)
            call_text_spans(ctx, text, strlen(text), &said);
        if (said.n > 0 && said.v[0].from <= len)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                             "a value that a peer said is not a positional argument where it looks like "
                             "name=value: '%s'; give it as a keyword",
                             text);
    }
    return 0;
}
