/* ifcfg.c - see ifcfg.h: lines of KEY=value, and the files that they stand in. */
#include "plugins/lib/net/ifcfg.h"

#include <arpa/inet.h>
#include <errno.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/partfile.h"
#include "plugins/lib/net/ip_api.h"

/* ---- lines -------------------------------------------------------------------------------------- */

/* KEY="value", with a number behind the key unless it is 0. */
static void
ifcfg_line(buf_t *out, const ifcfg_line_t *line, const char *key, size_t number, const char *value)
{
    char quote[2] = { line->quote, '\0' }, count[24] = "";

    if (number > 0)
        (void) snprintf(count, sizeof count, "%zu", number);
    buf_printf(out, "%s%s=%s%s%s\n", key, count, quote, value, quote);
}

/* A setting that is no line of the file is checked like one in "...": it may become a part of one. */
int
ifcfg_check(const ifcfg_line_t *lines, size_t n, const json_t *settings, fail_t *err)
{
    const char *key;
    json_t *value, *one;
    size_t i;
    int rc = 0;

    json_object_foreach ((json_t *) settings, key, value) {
        for (i = 0; i < n && strcasecmp(lines[i].option, key) != 0; i++)
            continue;
        /* Characters that end these quotes, or that a shell reads inside of them. */
        char around = i < n ? lines[i].quote : '"';
        const char *refused = around == '"' ? FIELD_QUOTED : around == '\'' ? "'" : FIELD_SHELL;
        json_auto_t *all = json_is_array(value) ? json_incref(value) : json_pack("[O]", value);
        json_array_foreach (all, i, one) {
            char quote;
            json_auto_t *plain = ifcfg_unquoted(one, &quote);
            AUTO_FREE char *text = json_is_object(one) ? value_dump(one) : value_pystr(plain);
            bool team = json_is_object(one) && strchr(refused, '"') == NULL; /* JSON, in '...' */
            if (rc == 0 && (team || !json_is_object(one)))
                rc = field_check_text(key, text, refused, err);
        }
    }
    return rc;
}

/* Options that are false or empty have no line, but numbers of a row that takes 0. */
void
ifcfg_text(buf_t *out, const ifcfg_line_t *lines, size_t n, const json_t *options)
{
    for (size_t i = 0; i < n; i++) {
        json_t *value = value_get(options, lines[i].option);
        bool zero = lines[i].form == IFCFG_ZERO && (json_is_number(value) || json_is_false(value));
        if ((!value_truthy(value) && !zero) ||
            (lines[i].with != NULL && !value_truthy(value_get(options, lines[i].with))))
            continue;
        if (lines[i].form == IFCFG_LIST || lines[i].form == IFCFG_PREFIXES) {
            /* A line for each of the list; a text is the first. */
            json_t *one;
            size_t k;
            if (json_is_string(value))
                ifcfg_line(out, &lines[i], lines[i].key, 1, json_string_value(value));
            json_array_foreach (value, k, one) {
                AUTO_FREE char *text = value_pystr(json_is_object(one) ? value_get(one, "ipaddr") : one);
                ifcfg_line(out, &lines[i], lines[i].key, k + 1, text);
                if (lines[i].form == IFCFG_PREFIXES)
                    ifcfg_line(out, &lines[i], "PREFIX", k + 1, value_str(one, "prefix", ""));
            }
            continue;
        }
        AUTO_FREE char *text = lines[i].form == IFCFG_YES ? xstrdup("yes")
                               : lines[i].form == IFCFG_WORDS && json_is_array(value)
                                   ? value_joined(value, " ")
                                   : value_pystr(value);
        ifcfg_line(out, &lines[i], lines[i].key, 0, text);
    }
}

/* ---- files -------------------------------------------------------------------------------------- */

/* Salt takes the first empty line away wherever it stands, as its template begins with one. */
json_t *
ifcfg_lines(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    json_t *list = json_array();
    bool dropped = false;

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        if (*line != '\0' || dropped)
            json_array_append_new(list, json_string(line));
        else
            dropped = true;
    }
    return list;
}

/* A file that isn't there has no lines. */
json_t *
ifcfg_file(const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    return fs_read_any(path, LIMIT_HOST_FILE, &text, err) < 0 ? NULL : ifcfg_lines(buf_str(&text));
}

/* Lines of comments, which network-scripts begin with # and SUSE with # or !, and lines without "=" are
 * none. */
json_t *
ifcfg_values(const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    json_t *values;

    if (fs_read_any(path, LIMIT_HOST_FILE, &text, err) < 0)
        return NULL;
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    values = json_object();
    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        char *key = str_trim(line), *equals = strchr(key, '=');
        if (*key == '#' || *key == '!' || equals == NULL)
            continue;
        *equals = '\0';
        ip_small(key);
        json_object_set_new(values, str_trim(key), value_utf8(equals + 1, strlen(equals + 1)));
    }
    return values;
}

/* Settings of the whole network are matched without regard to case, as Salt does. */
json_t *
ifcfg_small_keys(const json_t *settings)
{
    json_t *out = json_object(), *value;
    const char *key;

    json_object_foreach ((json_t *) settings, key, value) {
        AUTO_FREE char *small = xstrdup(key);
        json_object_set(out, ip_small(small), value);
    }
    return out;
}

/* The folder is not made: where it is missing the system keeps its network in another way. */
int
ifcfg_put(const char *path, const buf_t *text, fail_t *err)
{
    AUTO_FREE char *dir = xstrndup(path, (size_t) (strrchr(path, '/') - path));
    int rc = fs_look_dir(dir, err);

    if (rc == 0)
        return fail_set(err, -ENOENT, "%s cannot be written. %s does not exist", path, dir);
    return rc < 0 ? rc : partfile_put(path, buf_str(text), text->len, 0644, err);
}

/* Quotes count when they are at both ends and the same. */
json_t *
ifcfg_unquoted(const json_t *value, char *ret_quote)
{
    const char *text = json_string_value(value);
    size_t n = text != NULL ? strlen(text) : 0;

    *ret_quote = '\0';
    if (n < 2 || (*text != '"' && *text != '\'') || text[n - 1] != *text)
        return json_incref((json_t *) value);
    *ret_quote = *text;
    return json_stringn(text + 1, n - 2);
}

/* ---- interfaces ----------------------------------------------------------------------------------- */

/* The name becomes a part of a path, so it is checked first. */
int
ifcfg_get(const ifcfg_family_t *family, const json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/ifcfg-%s", family->dir, value_str(args, "iface", ""));

    *ret_value = ip_check_iface(args, err) == 0 ? ifcfg_file(path, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- routes --------------------------------------------------------------------------------------- */

/* inet_pton() decides; the prefix is a whole number. */
bool
ifcfg_is_address(int family, const json_t *value)
{
    const char *text = json_string_value(value), *slash = text != NULL ? strrchr(text, '/') : NULL;
    AUTO_FREE char *host = text != NULL
                               ? xstrndup(text, slash != NULL ? (size_t) (slash - text) : strlen(text))
                               : NULL;
    AUTO_FREE char *mask = slash != NULL ? xstrdup(slash + 1) : NULL;
    unsigned char room[sizeof(struct in6_addr)];
    long long bits;

    return host != NULL && inet_pton(family, host, room) == 1 &&
           (mask == NULL || str_to_int(str_trim(mask), 1, family == AF_INET ? 32 : 128, &bits));
}

/* The name is the end of a line and may have blanks; the other members are words. */
json_t *
ifcfg_routes(const json_t *args, fail_t *err)
{
    static const char *const keys[] = { "ipaddr", "netmask", "gateway", "metric", "dev" };
    const char *iface = value_str(args, "iface", ""), *name;
    json_t *settings = value_get(args, "settings"), *routes = NULL, *value, *route;
    size_t i;

    json_object_foreach (settings, name, value)
        routes = strcasecmp(name, "routes") == 0 ? value : routes;
    if (!json_is_array(routes)) {
        (void) fail_set(err, -EINVAL,
                        "Invalid option -- Route interface: %s, Option: routes, Expected: [List of routes]",
                        iface);
        return NULL;
    }
    json_array_foreach (routes, i, route) {
        if (!value_truthy(value_get(route, "ipaddr"))) {
            (void) fail_set(err, -EINVAL, "routes of %s: number %zu is without `ipaddr`", iface, i + 1);
            return NULL;
        }
        for (size_t k = 0; k < NELEMS(keys); k++) {
            if (field_check(keys[k], value_get(route, keys[k]), FIELD_WORD "\"", err) < 0)
                return NULL;
        }
        if (field_check("name", value_get(route, "name"), FIELD_LINE, err) < 0)
            return NULL;
    }
    return routes;
}

bool
ifcfg_member(buf_t *out, const char *before, const json_t *route, const char *key, const char *behind)
{
    json_t *value = value_get(route, key);
    AUTO_FREE char *text = value_truthy(value) ? value_pystr(value) : NULL;

    if (text != NULL)
        buf_printf(out, "%s%s%s", before, text, behind);
    return text != NULL;
}
