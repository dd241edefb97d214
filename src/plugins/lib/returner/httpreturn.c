/* httpreturn.c - see httpreturn.h. */
#include "plugins/lib/returner/httpreturn.h"

#include "common/base/str.h"
#include "plugins/lib/http/http_int.h"
#include "plugins/lib/http/web.h"

enum { ANSWER_MAX = 64 * 1024, TIMEOUT_S = 30 };

char *
httpreturn_join(const char *base, const char *more)
{
    const char *host = strstr(base, "://"), *path = host != NULL ? strchr(host + 3, '/') : NULL;
    const char *end = *more == '/' ? path : strrchr(base, '/');

    if (strstr(more, "://") != NULL)
        return xstrdup(more);
    if (path == NULL)
        return xasprintf("%s%s%s", base, *more == '/' ? "" : "/", more);
    return xasprintf("%.*s%s", (int) (end - base) + (*more == '/' ? 0 : 1), base, more);
}

void
httpreturn_form(const json_t *payload, httppost_t *post)
{
    AUTO_FREE char *text = ret_json(payload);
    json_auto_t *form = json_pack("{s:s}", "payload", text);

    http_form(form, &post->body);
    post->type = "application/x-www-form-urlencoded";
}

static int
http_post(const httppost_t *post, fail_t *err)
{
    web_auto_t web = WEB_INIT;
    buf_auto_t answer = BUF_INIT;
    /* "https://host" of the address is shown: the rest may be a secret. */
    const char *host = strstr(post->url, "://");
    size_t shown_len = host != NULL ? (size_t) (host - post->url) + 3 + strcspn(host + 3, "/?") : 0;
    AUTO_FREE char *shown = host != NULL ? xstrndup(post->url, shown_len) : xstrdup("?");
    AUTO_FREE char *type = xasprintf("Content-Type: %s", post->type);

    if (web_open(&web, CURLPROTO_HTTP | CURLPROTO_HTTPS, 0, &answer, err) < 0)
        return err->code;
    web_text(&web, CURLOPT_URL, post->url);
    web_field(&web, type);
    if (post->header != NULL)
        web_field(&web, post->header);
    if (post->insecure)
        web_insecure(&web);
    web_limit(&web, ANSWER_MAX);
    web_seconds(&web, CURLOPT_TIMEOUT_MS, TIMEOUT_S);
    web_send(&web, &post->body);
    int rc = web_run(&web, err);
    if (rc < 0)
        return rc;
    if (web.trouble != NULL)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s: %s", shown, web.trouble);
    /* A no to the post itself, which a second try would get again: malformed, too large, of the wrong kind. */
    if (web.status == 400 || web.status == 413 || web.status == 415 || web.status == 422)
        return fail_kind(err, FAIL_COMMAND, -EBADMSG, "%s answers %ld: %.200s", shown, web.status,
                         buf_str(&answer));
    if (web.status / 100 != 2 || (post->answer != NULL && !str_eq(post->answer, buf_str(&answer))))
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s answers %ld: %.200s", shown, web.status,
                         buf_str(&answer));
    return 0;
}

static int
http_one(call_ctx_t *ctx, const json_t *opts, const json_t *item,
         int (*fill)(call_ctx_t *, const json_t *, const json_t *, httppost_t *, fail_t *), fail_t *err)
{
    httppost_t post = { .type = "application/json" };
    int rc = fill(ctx, opts, item, &post, err);

    if (rc == 0)
        rc = http_post(&post, err);
    free(post.url);
    free(post.header);
    buf_free(&post.body);
    return rc < 0 ? rc : 0;
}

int
http_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const httpshape_t *shape = ctx_row(ctx)->data.ptr;
    const json_t *ret = value_get(args, "ret");
    json_auto_t *opts = retopts(ctx, shape->name, ret, shape->options, shape->n_options);

    return http_one(ctx, opts, ret, shape->ret, err);
}

int
http_save_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const httpshape_t *shape = ctx_row(ctx)->data.ptr;
    json_auto_t *opts = retopts(ctx, shape->name, NULL, shape->options, shape->n_options);

    return http_one(ctx, opts, args, shape->load, err);
}

int
http_event_return(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const httpshape_t *shape = ctx_row(ctx)->data.ptr;
    json_auto_t *opts = retopts(ctx, shape->name, NULL, shape->options, shape->n_options);
    json_t *event;
    size_t i;

    json_array_foreach (value_get(args, "events"), i, event) {
        int rc = http_one(ctx, opts, event, shape->event, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
