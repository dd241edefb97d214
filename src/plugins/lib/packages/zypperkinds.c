/* zypperkinds.c - what zypper has beside packages: patterns, patches, products; and its search. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/xmltags.h"
#include "plugins/lib/packages/zypper.h"

/* {name: {"installed", "summary"}} of patterns, patches or packages. */
json_t *
zypper_kind(call_ctx_t *ctx, const char *kind, const char *root, fail_t *err)
{
    json_auto_t *tags = zypper_elements(ctx, ZYPPER_READS | ZYPPER_MAY_MISS, root, err, "se", "-t", kind,
                                        NULL);
    json_auto_t *found = xmltags_named(tags, "solvable");
    json_t *ret = tags != NULL ? json_object() : NULL, *tag;
    size_t i;

    json_array_foreach (found, i, tag)
        json_object_set_new(ret, xmltags_attr(tag, "name"),
                            json_pack("{s:b, s:s}", "installed",
                                      str_eq(xmltags_attr(tag, "status"), "installed"), "summary",
                                      xmltags_attr(tag, "summary")));
    return ret;
}

/* Leaves only what is installed. */
static void
keep_installed(json_t *found)
{
    const char *name;
    json_t *v;
    void *next;

    json_object_foreach_safe (found, next, name, v) {
        if (!value_truthy(value_get(v, "installed")))
            json_object_del(found, name);
    }
}

/* Patterns are packages that provide "pattern()"; those that zypper hides are found by that alone. */
json_t *
zypper_installed_patterns(call_ctx_t *ctx, const char *root, fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:s?}", "root", root);
    json_auto_t *ret = zypper_kind(ctx, "pattern", root, err);
    prog_auto_t prog = PROG_INIT;

    if (ret == NULL || rpm_begin(&prog, kwargs, err) < 0)
        return NULL;
    prog_adds(&prog, "-q", "--provides", "--whatprovides", "pattern()", NULL);
    AUTO_FREE char *text = rpm_text(ctx, &prog, TOOL_MERGE | TOOL_QUIET, err);
    if (text == NULL)
        return NULL;
    keep_installed(ret);
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        const char *name = str_starts(line, "pattern() = ") ? strrchr(line, '=') + 2 : ".";
        if (*name != '.' && value_get(ret, name) == NULL)
            json_object_set_new(ret, name,
                                json_pack("{s:b, s:s}", "installed", 1, "summary", "Non-visible pattern"));
    }
    return STEAL(ret);
}

/* Refreshes where the call asks for it. */
static int
refresh_if_asked(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *done = value_truthy(value_get(args, "refresh")) ? zypper_refresh(ctx, args, err)
                                                                 : json_null();

    return done != NULL ? 0 : err->code;
}

/* All of them, or the installed ones: the row's name tells. */
int
zypper_list_patterns(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool installed = str_eq(ctx_row(ctx)->name, "list_installed_patterns");

    if (refresh_if_asked(ctx, args, err) < 0)
        return err->code;
    *ret_value = installed ? zypper_installed_patterns(ctx, zypper_root(args), err)
                           : zypper_kind(ctx, "pattern", zypper_root(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* As zypper_list_patterns(). */
int
zypper_list_patches(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (refresh_if_asked(ctx, args, err) < 0)
        return err->code;
    *ret_value = zypper_kind(ctx, "patch", zypper_root(args), err);
    if (*ret_value != NULL && str_eq(ctx_row(ctx)->name, "list_installed_patches"))
        keep_installed(*ret_value);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- products --------------------------------------------------------------------------------- */

/* The release of a product whose line has a file of the maker. */
static void
take_release(json_t *product, const char *root)
{
    const char *line = value_str(product, "productline", "");
    AUTO_FREE char *path = xasprintf("/var/lib/suseRegister/OEM/%s", line);
    AUTO_FREE char *text = *line != '\0' && strchr(line, '/') == NULL ? root_read_trimmed(root, path) : NULL;

    if (text != NULL)
        text[strcspn(text, "\n")] = '\0';
    if (!str_empty(text))
        json_object_set_new(product, "release", json_string(text));
}

/* Lines of a description, in one. */
static json_t *
in_one_line(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    buf_auto_t out = BUF_INIT;
    bool first = true;

    for (char *at = copy, *line; (line = strsep(&at, "\n")) != NULL; first = false)
        buf_printf(&out, "%s%s", first ? "" : " ", str_trim(line));
    return value_utf8(buf_str(&out), out.len);
}

json_t *
zypper_products(call_ctx_t *ctx, bool all, const char *root, fail_t *err)
{
    json_auto_t *tags = all ? zypper_elements(ctx, ZYPPER_READS, root, err, "products", NULL)
                            : zypper_elements(ctx, ZYPPER_READS, root, err, "--disable-repositories",
                                              "products", "-i", NULL);
    json_t *ret = tags != NULL ? json_array() : NULL, *tag, *product = NULL, *v;
    const char *key;
    size_t i;

    json_array_foreach (tags, i, tag) {
        const char *name = value_str(tag, "tag", "");
        if (str_eq(name, "product")) {
            product = json_pack("{s:s}", "description", "");
            json_object_foreach (value_get(tag, "attributes"), key, v) {
                bool truth = str_eq(key, "isbase") || str_eq(key, "installed");
                const char *text = json_string_value(v);
                if (truth)
                    json_object_set_new(product, key,
                                        json_boolean(str_eq(text, "true") || str_eq(text, "1")));
                else if (*text != '\0')
                    json_object_set(product, key, v);
            }
            take_release(product, root);
            json_array_append_new(ret, product);
        } else if (product != NULL && str_eq(name, "endoflife")) {
            json_object_set_new(product, "eol", json_string(xmltags_attr(tag, "text")));
            json_object_set_new(product, "eol_t", json_integer(atoll(xmltags_attr(tag, "time_t"))));
        } else if (product != NULL && str_eq(name, "description")) {
            json_object_set_new(product, "description", in_one_line(value_str(tag, "text", "")));
        }
    }
    return ret;
}

int
zypper_list_products(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (refresh_if_asked(ctx, args, err) < 0)
        return err->code;
    *ret_value = zypper_products(ctx, value_truthy(value_get(args, "all")), zypper_root(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- search ----------------------------------------------------------------------------------- */

json_t *
zypper_search(call_ctx_t *ctx, const char *criteria, const json_t *kwargs, fail_t *err)
{
    static const char *const options[][2] = {
        { "provides", "--provides" },
        { "recommends", "--recommends" },
        { "requires", "--requires" },
        { "suggests", "--suggests" },
        { "conflicts", "--conflicts" },
        { "obsoletes", "--obsoletes" },
        { "file_list", "--file-list" },
        { "search_descriptions", "--search-descriptions" },
        { "case_sensitive", "--case-sensitive" },
        { "installed_only", "--installed-only" },
        { "not_installed_only", "-u" },
        { "details", "--details" },
    };
    const unsigned flags = ZYPPER_XML | ZYPPER_READS | ZYPPER_MAY_FAIL;
    const char *match = value_str(kwargs, "match", ""), *root = value_str(kwargs, "root", "");
    prog_auto_t prog = PROG_INIT;
    json_t *tag;
    size_t i;

    if (zypper_begin(ctx, &prog, flags, *root != '\0' ? root : NULL, err) < 0)
        return NULL;
    prog_add(&prog, "search");
    if (str_eq(match, "exact") || str_eq(match, "words") || str_eq(match, "substrings"))
        prog_addf(&prog, "--match-%s", match);
    for (i = 0; i < NELEMS(options); i++) {
        if (value_get(kwargs, options[i][0]) != NULL)
            prog_add(&prog, options[i][1]);
    }
    if (prog_operand(&prog, "criteria", criteria, err) < 0)
        return NULL;
    json_auto_t *out = zypper_run(ctx, &prog, flags, err);
    if (out == NULL)
        return NULL;
    json_auto_t *tags = xmltags_read(value_str(out, "stdout", "")), *found = xmltags_named(tags, "solvable");
    if (json_array_size(found) == 0) {
        fail_kind(err, FAIL_COMMAND, -ENOENT, "No packages found matching '%s'", criteria);
        return NULL;
    }
    json_t *ret = json_object();
    json_array_foreach (found, i, tag)
        json_object_set(ret, xmltags_attr(tag, "name"), value_get(tag, "attributes"));
    return ret;
}

int
zypper_search_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (refresh_if_asked(ctx, args, err) < 0)
        return err->code;
    *ret_value = zypper_search(ctx, value_str(args, "criteria", ""), value_get(args, "kwargs"), err);
    return *ret_value != NULL ? 0 : err->code;
}
