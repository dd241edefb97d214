/* pkgwant.c - wishes of states of `pkg`, compared with what is installed: {name: version or None} from the
 * SLS, {name: [versions]} from pkg.list_pkgs. Versions are compared by the module's own pkg.version_cmp. */
#include "plugins/lib/packages/pkgwant.h"

#include <fnmatch.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* ---- wishes ---------------------------------------------------------------------------------- */

/* Adds a wish by the name that the package manager uses. */
static int
add_wish(call_ctx_t *ctx, const json_t *args, json_t *wanted, const char *name, const json_t *version,
         fail_t *err)
{
    bool asks = value_bool(args, "normalize", true) && ctx_has(ctx, "pkg.normalize_name");
    json_auto_t *plain = asks ? sub_call(ctx, err, "pkg.normalize_name", "{s:s}", "name", name) : json_null();

    if (plain == NULL)
        return err->code;
    /* Versions are texts, also where YAML made a number of one. */
    AUTO_FREE char *text = version != NULL && !json_is_null(version) ? value_pystr(version) : NULL;
    json_object_set_new(wanted, json_is_string(plain) ? json_string_value(plain) : name,
                        text != NULL ? json_string(text) : json_null());
    return 0;
}

/* Adds one element of `pkgs`: a name, or {name: version} with one or more members. */
static int
add_wishes(call_ctx_t *ctx, const json_t *args, json_t *wanted, const json_t *element, fail_t *err)
{
    const char *name;
    json_t *version;

    if (!json_is_object(element)) {
        AUTO_FREE char *text = value_pystr(element);
        return add_wish(ctx, args, wanted, text, NULL, err);
    }
    json_object_foreach ((json_t *) element, name, version) {
        if (add_wish(ctx, args, wanted, name, version, err) < 0)
            return err->code;
    }
    return 0;
}

/* An SLS with neither would do nothing without a word. */
int
pkgwant_named(const json_t *args, fail_t *err)
{
    if (value_truthy(value_get(args, "pkgs")) || !str_empty(value_str(args, "name", NULL)))
        return 0;
    return fail_kind(err, FAIL_COMMAND, -EINVAL, "no package is named: write `name` or `pkgs`");
}

/* A name with its version, a list, or a dict. NEW {name: version or null}, or NULL with *err. */
json_t *
pkgwant_of(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *wanted = json_object();
    json_t *pkgs = value_get(args, "pkgs"), *element;
    size_t i;

    if (pkgwant_named(args, err) < 0)
        return NULL;
    if (!value_truthy(pkgs))
        return add_wish(ctx, args, wanted, value_str(args, "name", ""), value_get(args, "version"), err) < 0
                   ? NULL
                   : json_incref(wanted);
    if (json_is_object(pkgs))
        return add_wishes(ctx, args, wanted, pkgs, err) < 0 ? NULL : json_incref(wanted);
    json_array_foreach (pkgs, i, element) {
        if (add_wishes(ctx, args, wanted, element, err) < 0)
            return NULL;
    }
    return json_incref(wanted);
}

/* {} when an element is not a dict. NEW. */
json_t *
pkgwant_sources(const json_t *sources)
{
    json_t *wanted = json_object(), *element;
    size_t i;

    json_array_foreach (sources, i, element) {
        if (!json_is_object(element)) {
            json_object_clear(wanted);
            break;
        }
        json_object_update(wanted, element);
    }
    return wanted;
}

/* `what`: another list of pkg.list_pkgs, such as "removed". NEW, or NULL with *err. */
json_t *
pkgwant_have(call_ctx_t *ctx, const char *what, fail_t *err)
{
    return what != NULL ? sub_call(ctx, err, "pkg.list_pkgs", "{s:b, s:b}", "versions_as_list", 1, what, 1)
                        : sub_call(ctx, err, "pkg.list_pkgs", "{s:b}", "versions_as_list", 1);
}

/* NEW text: "1.2,1.3". */
static json_t *
pkgwant_joined(const json_t *versions)
{
    buf_auto_t out = BUF_INIT;
    json_t *v;
    size_t i;

    json_array_foreach (versions, i, v)
        buf_printf(&out, "%s%s", i > 0 ? "," : "", json_string_value(v));
    return json_string(buf_str(&out));
}

/* Adds the differences of versions to the state's changes. */
void
pkgwant_changes(const json_t *before, const json_t *now, json_t *ret)
{
    const char *name;
    json_t *v;

    json_object_foreach ((json_t *) now, name, v) {
        if (!json_equal(v, value_get(before, name)))
            state_change_from(ret, name, pkgwant_joined(value_get(before, name)), pkgwant_joined(v));
    }
    json_object_foreach ((json_t *) before, name, v) {
        if (now != NULL && value_get(now, name) == NULL)
            state_change_from(ret, name, pkgwant_joined(v), json_string(""));
    }
}

/* The text of pkg's error has the changes that were made all the same; they are cut out, as the state tells
 * them in its own place. True when there are some. */
bool
pkgwant_failed(json_t *ret, const char *doing, fail_t *err)
{
    static const char key[] = "\nchanges:\n";
    const char *text = fail_text(err), *changes = strstr(text, key), *rest = changes;

    if (changes == NULL) {
        (void) state_ret_set(ret, STATE_FALSE, "An error was encountered while %s: %s", doing, text);
    } else {
        /* They end where a line is not indented. */
        for (rest += sizeof(key) - 1; *rest == ' ';)
            rest += strcspn(rest, "\n") + (strchr(rest, '\n') != NULL);
        (void) state_ret_set(ret, STATE_FALSE, "%.*s\n%s", (int) (changes - text), text, rest);
    }
    fail_clear(err);
    return changes != NULL;
}

/* ---- versions -------------------------------------------------------------------------------- */

/* The operator at the front of a wish: its length, and "==" for "=" and for none. */
static size_t
operator_of(const char *wish, const char **ret_oper)
{
    static const char *const opers[] = { "<=", ">=", "!=", "==", "<", ">", "=" };

    for (size_t i = 0; i < NELEMS(opers); i++) {
        if (str_starts(wish, opers[i])) {
            *ret_oper = strcmp(opers[i], "=") == 0 ? "==" : opers[i];
            return strlen(opers[i]);
        }
    }
    *ret_oper = "==";
    return 0;
}

/* 1, 0 or negative. Salt compares without epochs where the wish has none. */
static int
version_fits(call_ctx_t *ctx, const char *have, const char *oper, const char *want,
             const json_t *ignore_epoch, fail_t *err)
{
    bool plain = strpbrk(oper, "<>") == NULL && strchr(want, ':') == NULL;
    bool ignore = ignore_epoch == NULL || json_is_null(ignore_epoch) ? plain : value_truthy(ignore_epoch);

    if (strcmp(oper, "==") == 0 && fnmatch(want, have, FNM_NOESCAPE) == 0)
        return 1;
    /* By place, as the names of the two arguments differ between package managers. */
    json_auto_t *pair = json_pack("[s, s]", have, want), *how = json_pack("{s:b}", "ignore_epoch", ignore);
    json_auto_t *order = NULL;
    if (ctx_call(ctx, "pkg.version_cmp", pair, how, &order, err) < 0)
        return err->code;
    if (!json_is_integer(order))
        return 0;
    json_int_t is = json_integer_value(order);
    bool equal = oper[1] == '=' && is == 0;
    return *oper == '<' ? is < 0 || equal : *oper == '>' ? is > 0 || equal : *oper == '!' ? is != 0 : is == 0;
}

/* 1 when one of the versions fits the wish, 0, or negative. `newer`: newer ones fit too. */
int
pkgwant_holds(call_ctx_t *ctx, const json_t *versions, const char *wish, const json_t *ignore_epoch,
              bool newer, fail_t *err)
{
    size_t i;
    json_t *v;

    json_array_foreach (versions, i, v) {
        /* All comma-separated conditions must hold; empty ones count as fulfilled. */
        const char *have = json_string_value(v);
        char **parts = str_split(wish, ",", false);
        bool single = parts[0] == NULL || parts[1] == NULL;
        int fits = 1;

        for (char **p = parts; *p != NULL && fits > 0; p++) {
            const char *oper, *text = str_trim(*p);
            const char *want = text + operator_of(text, &oper);
            while (*want == ' ')
                want++;
            if (*text != '\0')
                fits = version_fits(ctx, have, newer && single && strcmp(oper, "==") == 0 ? ">=" : oper, want,
                                    ignore_epoch, err);
        }
        strv_free(parts);

        if (fits != 0)
            return fits;
    }
    return 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* "name" or "name=version", as comments show a wish. */
char *
pkgwant_text(const char *name, const json_t *wish)
{
    const char *text = json_is_string(wish) ? json_string_value(wish) : "";

    return xasprintf("%s%s%s", name, *text == '\0' || strchr("<>=", *text) != NULL ? "" : "=", text);
}

/* Names with commas, sorted where the comment wants it. NEW. */
char *
pkgwant_keys(const json_t *names, bool sorted)
{
    size_t n = json_is_object(names) ? json_object_size(names) : json_array_size(names), i = 0;
    AUTO_FREE const char **texts = xcalloc(n + 1, sizeof(*texts));
    buf_auto_t out = BUF_INIT;
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) names, key, v)
        texts[i++] = key;
    if (json_is_array(names)) {
        json_array_foreach (names, i, v)
            texts[i] = json_string_value(v);
    }
    if (sorted)
        qsort(texts, n, sizeof(*texts), str_by_text);
    for (i = 0; i < n; i++)
        buf_printf(&out, "%s%s", i > 0 ? ", " : "", texts[i]);
    return xstrdup(buf_str(&out));
}

/* ---- refresh --------------------------------------------------------------------------------- */

/* The file by which one state tells the next that lists must be refreshed. NEW. */
static char *
mark_path(call_ctx_t *ctx)
{
    return xasprintf("%s/pkg_refresh", value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"));
}

/* The argument decides, else the mark of pkgwant_mark. */
bool
pkgwant_refresh(call_ctx_t *ctx, const json_t *refresh)
{
    AUTO_FREE char *path = mark_path(ctx);

    if (refresh != NULL && !json_is_null(refresh))
        return value_truthy(refresh);
    return !fs_absent(path); /* once too often rather than never */
}

void
pkgwant_mark(call_ctx_t *ctx)
{
    AUTO_FREE char *path = mark_path(ctx);

    /* Without it the lists are only refreshed where the SLS says so. */
    (void) fs_write_quick(path, "", 0, 0600, NULL);
}

json_t *
pkgwant_kwargs(call_ctx_t *ctx, const json_t *args)
{
    json_t *kwargs = json_copy(value_get(args, "kwargs"));

    json_object_set_new(kwargs, "saltenv", json_string(ctx_saltenv(ctx)));
    return kwargs;
}
