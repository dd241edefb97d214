/* cacheplace.c - where fetched files lie: see fetch.h. */
#include "common/base/str.h"
#include "plugins/lib/transfer/fetch.h"
#include "salt/value.h"

char *
fetch_cache_place(call_ctx_t *ctx, const char *part, const char *rest)
{
    return xasprintf("%s/%s/%s", value_str(ctx_opts(ctx), "cachedir", ""), part, rest);
}
