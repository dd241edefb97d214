/* ipset.c - state module `ipset`: sets of addresses, networks and ports, and their members. The execution
 * module does the work; its answers are texts, of which those with "Error" are failures. */
#include <stdarg.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The change of all functions is {"locale": name}, in test mode too. Returns 0. */
static int PRINTF(4, 5) ips_changed(call_ctx_t *ctx, json_t *ret, const char *name, const char *fmt, ...)
{
    va_list ap;
    buf_auto_t text = BUF_INIT;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    state_change(ret, "locale", json_string(name));
    return state_ret_set(ret, ctx_test(ctx) ? STATE_NONE : STATE_TRUE, "%s", buf_str(&text));
}

/* 1 for the answer True, else 0 with its text in *ret_said; negative with *err. TAKES `answer`. */
static int
went_well(json_t *answer, char **ret_said, fail_t *err)
{
    if (answer == NULL)
        return err->code;
    bool well = json_is_true(answer);
    AUTO_FREE char *text = json_is_string(answer) ? value_pystr(answer) : xstrdup("");
    *ret_said = xstrdup(str_trim(text));
    json_decref(answer);
    return well;
}

static int
ips_set_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *kwargs = value_get(args, "kwargs");
    const char *name = value_str(args, "name", ""), *family = value_str(args, "family", "");
    AUTO_FREE char *said = NULL;

    int there = sub_call_bool(ctx, err, "ipset.check_set", "{s:s}", "name", name);
    if (there < 0)
        return state_ret_fail(ret, err);
    if (there > 0)
        return state_ret_set(ret, STATE_TRUE, "ipset set %s already exists for %s", name, family);
    if (ctx_test(ctx))
        return ips_changed(ctx, ret, name, "ipset set %s would be added for %s", name, family);
    json_auto_t *words = json_is_object(kwargs) ? json_copy(kwargs) : json_object(), *answer = NULL;
    json_object_set_new(words, "name", json_string(name));
    json_object_set(words, "set_type", value_get(args, "set_type"));
    json_object_set_new(words, "family", json_string(family));
    (void) ctx_call(ctx, "ipset.new_set", NULL, words, &answer, err);
    int made = went_well(STEAL(answer), &said, err);
    if (made < 0)
        return state_ret_fail(ret, err);
    if (made == 0)
        return state_ret_set(ret, STATE_FALSE, "Failed to create set %s for %s: %s", name, family, said);
    return ips_changed(ctx, ret, name, "ipset set %s created successfully for %s", name, family);
}

static int
ips_set_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *family = value_str(args, "family", "");
    AUTO_FREE char *said = NULL;

    int there = sub_call_bool(ctx, err, "ipset.check_set", "{s:s}", "name", name);
    if (there < 0)
        return state_ret_fail(ret, err);
    if (there == 0)
        return state_ret_set(ret, STATE_TRUE, "ipset set %s for %s is already absent", name, family);
    if (ctx_test(ctx))
        return ips_changed(ctx, ret, name, "ipset set %s for %s would be removed", name, family);
    int gone = sub_call_bool(ctx, err, "ipset.flush", "{s:s}", "name", name);
    if (gone == 0)
        return state_ret_set(ret, STATE_FALSE, "Failed to flush set %s for %s", name, family);
    gone = gone > 0 ? went_well(sub_call(ctx, err, "ipset.delete_set", "{s:s}", "name", name), &said, err)
                    : gone;
    if (gone < 0)
        return state_ret_fail(ret, err);
    if (gone == 0)
        return state_ret_set(ret, STATE_FALSE, "Failed to delete set %s for %s: %s", name, family, said);
    return ips_changed(ctx, ret, name, "ipset set %s deleted successfully for family %s", name, family);
}

/* The options of the entry with those of the state that it has not: "timeout 30 comment text". A comment of
 * several words is quoted, as ipset lists it. NEW. */
static char *
with_options(const char *options, const json_t *kwargs)
{
    const json_t *timeout = value_get(kwargs, "timeout"), *comment = value_get(kwargs, "comment");
    buf_auto_t out = BUF_INIT;

    if (timeout != NULL && strstr(options, "timeout") == NULL) {
        AUTO_FREE char *text = value_pystr(timeout);
        buf_printf(&out, "timeout %s ", text);
    }
    buf_puts(&out, options);
    if (comment != NULL && strstr(options, "comment") == NULL) {
        AUTO_FREE char *text = value_pystr(comment);
        const char *quote = strchr(text, ' ') != NULL ? "\"" : "";
        buf_printf(&out, " comment %s%s%s", quote, text, quote);
    }
    AUTO_FREE char *whole = buf_steal(&out);
    return xstrdup(str_trim(whole));
}

/* Comments of present and absent: {e} is the entry, {w} the same with its options, {s} the set, {f} the
 * family and {o} the answer of the module. */
typedef struct saying {
    const char *fun, *done, *told, *did, *failed;
    bool gone; /* the entry is to be absent */
} saying_t;

static const saying_t adding = { .fun = "ipset.add",
                                 .done = "entry for {e} already in set {s} for {f}\n",
                                 .told = "entry {e} would be added to set {s} for family {f}\n",
                                 .did = "entry {w} added to set {s} for family {f}\n",
                                 .failed = "Failed to add to entry {w} to set {s} for family {f}.\n{o}" };
static const saying_t deleting = { .fun = "ipset.delete",
                                   .done = "ipset entry for {w} not present in set {s} for {f}\n",
                                   .told = "ipset entry {e} would be removed from set {s} for {f}\n",
                                   .did = "ipset entry {w} removed from set {s} for {f}\n",
                                   .failed = "Failed to delete ipset entry from set {s} for {f}. "
                                             "Attempted entry was {w}.\n{o}\n",
                                   .gone = true };

/* The state and one of its entries. All BORROWED but `whole`. */
typedef struct wish {
    call_ctx_t *ctx;
    json_t *kwargs;
    const char *set, *family, *entry;
    char *whole;
} wish_t;

static void
ips_line(buf_t *out, const char *pattern, const wish_t *w, const char *said)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '{') {
            buf_putc(out, *pattern);
            continue;
        }
        const char letter = pattern[1];
        buf_puts(out, letter == 'e'   ? w->entry
                      : letter == 'w' ? w->whole
                      : letter == 's' ? w->set
                      : letter == 'f' ? w->family
                                      : said);
        pattern += 2;
    }
}

/* Adds or deletes the entry. 1 when it went well, 0 with the answer in *ret_said; negative with *err. */
static int
ips_change(const wish_t *w, const saying_t *say, char **ret_said, fail_t *err)
{
    json_auto_t *words = json_is_object(w->kwargs) ? json_copy(w->kwargs) : json_object(), *answer = NULL;

    json_object_del(words, "set_name");
    json_object_set_new(words, "name", json_string(w->set));
    json_object_set_new(words, "entry", json_string(say->gone ? w->entry : w->whole));
    json_object_set_new(words, "family", json_string(w->family));
    int rc = ctx_call(w->ctx, say->fun, NULL, words, &answer, err);
    if (rc < 0)
        return rc;
    *ret_said = xstrdup(json_is_string(answer) ? json_string_value(answer) : "");
    return strstr(*ret_said, "Error") == NULL;
}

/* Adds or deletes an entry, or foretells it; the comment's line goes to `lines`. Negative with *err. */
static int
ips_entry(const wish_t *w, const saying_t *say, const char *name, json_t *ret, buf_t *lines,
          state_result_t *result, fail_t *err)
{
    AUTO_FREE char *said = NULL;
    json_auto_t *found = sub_call(w->ctx, err, "ipset.check", "{s:s, s:s, s:s}", "name", w->set, "entry",
                                  w->whole, "family", w->family);

    if (found == NULL)
        return err->code;
    if (json_is_true(found) != say->gone) {
        ips_line(lines, say->done, w, "");
        return 0;
    }
    int rc = ctx_test(w->ctx) ? 1 : ips_change(w, say, &said, err);
    if (rc < 0)
        return rc;
    ips_line(lines, rc == 0 ? say->failed : ctx_test(w->ctx) ? say->told : say->did, w, said);
    if (rc == 0)
        *result = STATE_FALSE;
    else if (*result == STATE_TRUE && ctx_test(w->ctx))
        *result = STATE_NONE;
    if (rc > 0)
        state_change(ret, "locale", json_string(name));
    return 0;
}

/* present and absent, of one entry or a list. */
static int
ips_members(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const saying_t *say = ctx_row(ctx)->data.ptr;
    json_t *ret = *ret_value = state_ret_args(args), *given = value_get(args, "entry"),
           *kwargs = value_get(args, "kwargs"), *one;
    json_auto_t *entries = json_is_array(given) ? json_incref(given) : json_pack("[O]", given);
    state_result_t result = STATE_TRUE;
    buf_auto_t lines = BUF_INIT;
    size_t i;

    if (!value_truthy(given))
        return state_ret_set(ret, STATE_FALSE, "ipset entry must be specified");
    if (*value_str(kwargs, "set_name", "") == '\0')
        return state_ret_set(ret, STATE_FALSE, "set_name must be specified: the set that the entry is for");
    json_array_foreach (entries, i, one) {
        AUTO_FREE char *entry = value_pystr(one), *rest = NULL, *whole = NULL;
        char *blank = strchr(entry, ' ');
        if (blank != NULL)
            *blank = '\0';
        rest = with_options(blank != NULL ? blank + 1 : "", kwargs);
        whole = xasprintf("%s%s%s", entry, *rest != '\0' ? " " : "", rest);
        const wish_t w = { ctx,   kwargs, value_str(kwargs, "set_name", ""), value_str(args, "family", ""),
                           entry, whole };
        if (ips_entry(&w, say, value_str(args, "name", ""), ret, &lines, &result, err) < 0)
            return state_ret_fail(ret, err);
    }
    return state_ret_set(ret, result, "%s", buf_str(&lines));
}

/* The run always flushes and reports a change: the kernel is not asked for members. */
static int
ips_flush(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *family = value_str(args, "family", "");

    int there = sub_call_bool(ctx, err, "ipset.check_set", "{s:s}", "name", name);
    if (there < 0)
        return state_ret_fail(ret, err);
    if (there == 0)
        return state_ret_set(ret, STATE_FALSE, "ipset set %s does not exist for %s", name, family);
    if (ctx_test(ctx))
        return ips_changed(ctx, ret, name, "ipset entries in set %s for %s would be flushed", name, family);
    int done = sub_call_bool(ctx, err, "ipset.flush", "{s:s}", "name", name);
    if (done < 0)
        return state_ret_fail(ret, err);
    if (done == 0)
        return state_ret_set(ret, STATE_FALSE, "Failed to flush ipset entries from set %s for %s", name,
                             family);
    return ips_changed(ctx, ret, name, "Flushed ipset entries from set %s for %s", name, family);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define IPS_FAMILY_ROW ARG("family", ARG_STR, "\"ipv4\"", "ipv4 or ipv6")
#define IPS_SET_ROW    ARG("name", ARG_STR, ARG_REQUIRED, "The set")
#define MEMBER_WORDS   "set_name timeout packets bytes comment nomatch skbmark skbprio skbqueue"

static const arg_t set_present_args[] = { IPS_SET_ROW,
                                          ARG("set_type", ARG_STR, ARG_REQUIRED, "hash:ip, hash:net, ..."),
                                          IPS_FAMILY_ROW,
                                          ARG("kwargs", ARG_ANY, ARG_STARSTAR, "What ipset.new_set takes",
                                              "comment range netmask markmask hashsize maxelem size timeout "
                                              "counters skbinfo"),
                                          ARGS_END };
static const arg_t set_args[] = { IPS_SET_ROW, IPS_FAMILY_ROW,
                                  ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Without effect", TAKES_NONE),
                                  ARGS_END };
static const arg_t member_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "A name for the state, which is no part of the entry"),
    ARG("entry", ARG_ANY, "null", "A member, with its options behind it; or a list"), IPS_FAMILY_ROW,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "set_name: the set; timeout, comment and other options",
        MEMBER_WORDS),
    ARGS_END
};

static const func_t funcs[] = {
    { "absent", ips_members, member_args, 0, "Ensure that a set has not the entries.",
      .data.ptr = &deleting },
    { "flush", ips_flush, set_args, 0, "Delete the entries of a set." },
    { "present", ips_members, member_args, 0, "Ensure that a set has the entries.", .data.ptr = &adding },
    { "set_absent", ips_set_absent, set_args, 0, "Ensure that there is no set of this name." },
    { "set_present", ips_set_present, set_present_args, 0, "Ensure that a set is there." },
};

PLUGIN(state, ipset, .doc = "Sets of addresses in the kernel", FUNCS(funcs));
