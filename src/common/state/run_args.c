/* run_args.c - a chunk's arguments for its function: which of its keys are the runner's own, which the
 * function takes, and which are typing errors. */
#include "common/plugin/keywords.h"
#include "common/plugin/place.h"
#include "common/base/str.h"
#include "common/state/run_call.h"

/* Arguments that belong to every state: see salt/state.h. Sorted. */
static const char *const common_keys[] = {
    "aggregate",     "beacon",       "check_cmd",      "cmd_opts_exclude",
    "creates",       "failhard",     "fire_event",     "force_reload_modules",
    "fun",           "listen",       "listen_in",      "onchanges",
    "onchanges_any", "onchanges_in", "onfail",         "onfail_all",
    "onfail_any",    "onfail_in",    "onfail_stop",    "onlyif",
    "order",         "parallel",     "prereq",         "prereq_in",
    "prerequired",   "provider",     "reload_grains",  "reload_modules",
    "reload_pillar", "require",      "require_any",    "require_in",
    "retry",         "runas",        "runas_password", "saltenv",
    "state",         "umask",        "unless",         "use",
    "use_in",        "watch",        "watch_any",      "watch_in",
};

static int
run_args_by_name(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *) row);
}

bool
state_declares(const func_t *f, const char *key)
{
    shape_t shape = shape_of(f);

    return shape_named(&shape, key) != NULL;
}

/* True for `dirmode` and `dir_mode`: formulas in use say so where Salt ignores it, and work. */
static bool
differs_in_underscores(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "_-");
        b += strspn(b, "_-");
        if (*a != *b || *a == '\0')
            return *a == *b;
    }
}

static const char *
next_retry_key(void *cookie)
{
    static const char *const keys[] = { "attempts", "interval", "splay", "until" };
    size_t *at = cookie;

    return *at < NELEMS(keys) ? keys[(*at)++] : NULL;
}

/* Refuses a key of `retry` that is nearly one that there is: the state would be tried as often as without. */
static int
check_retry(const json_t *retry, const char *full, fail_t *err)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) retry, key, v) {
        size_t at = 0;
        const char *near = str_typo_of(key, next_retry_key, &at);
        if (near != NULL && strcmp(near, key) != 0)
            return fail_kind(err, FAIL_ARGUMENTS, -EINVAL,
                             "'%s' is an invalid key of 'retry' for '%s'; is '%s' meant?", key, full, near);
    }
    return 0;
}

/* `*ret_idle`: keys that the function ignores, as Salt's do that take any keyword, each with the near name
 * that was perhaps meant. A key near to a declared one is refused even then: it is a typing error. */
json_t *
state_arguments(call_ctx_t *ctx, const func_t *f, json_t *low, json_t *ret_idle, fail_t *err)
{
    /* mod_watch gets the keywords of the function that watches, and that one may have mod_watch's. */
    bool watches = strcmp(value_str(low, "fun", ""), "mod_watch") == 0;
    AUTO_FREE char *full = state_full_name(low),
                   *other = xasprintf("%s.%s", value_str(low, "state", ""),
                                      watches ? value_str(low, "sfun", "") : "mod_watch");
    json_auto_t *kwargs = json_object(), *extra = json_array(), *typos = json_object();
    fail_auto_t none = FAIL_INIT;
    bool any = keyword_any(f);
    keyword_names_t names = { .f = f,
                              .also = any ? ctx_find_state(ctx, other, &none) : NULL,
                              .common = common_keys,
                              .n_common = NELEMS(common_keys),
                              .given = low };
    const char *key;
    json_t *v;

    json_object_foreach (low, key, v) {
        AUTO_FREE char *near = NULL;
        /* Keys of the runner, unless the function declares one of that name for itself. */
        bool common = str_starts(key, "__") || strcmp(key, "name") == 0 ||
                      bsearch(key, common_keys, NELEMS(common_keys), sizeof(*common_keys),
                              run_args_by_name) != NULL;
        if (common && !state_declares(f, key))
            continue;
        keyword_fit_t fit = keyword_fit(&names, key, &near);
        bool harmless = any && near != NULL && differs_in_underscores(key, near);
        if (near != NULL && !harmless)
            json_object_set_new(typos, key, json_string(near));
        if (!harmless && (near != NULL || (fit != KEYWORD_NAMED && !any)))
            json_array_append_new(extra, json_string(key));
        else if (harmless || fit == KEYWORD_NONE)
            json_object_set_new(ret_idle, key, near != NULL ? json_string(near) : json_null());
        json_object_set(kwargs, key, v);
    }
    size_t i, n = json_array_size(extra);
    if (n == 0)
        return check_retry(value_get(low, "retry"), full, err) == 0 ? json_incref(kwargs) : NULL;

    /* "'a', 'b' and 'c' are invalid keyword arguments for 'x.y'" */
    buf_auto_t text = BUF_INIT;
    json_array_foreach (extra, i, v)
        buf_printf(&text, "%s'%s'", i == 0 ? "" : i + 1 < n ? ", " : " and ", json_string_value(v));
    buf_printf(&text,
               n == 1 ? " is an invalid keyword argument for '%s'"
                      : " are invalid keyword arguments for '%s'",
               full);
    keyword_hints(typos, &text);
    (void) fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s", buf_str(&text));
    return NULL;
}
