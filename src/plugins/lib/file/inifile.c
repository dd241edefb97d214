/* inifile.c - see inifile.h. Lines that are neither option nor section keep their place as "#comment1" or
 * "#unknown1"; an indented line belongs to the option above it. So a text that is parsed and written again
 * loses nothing but blank lines. */
#include "plugins/lib/file/inifile.h"

#include "common/base/str.h"

#define BLANKS " \t\r\v\f"

/* ---- lines ----------------------------------------------------------------------------------- */

/* "NAME SEP VALUE": the name ends before the first separator with blanks around. Both NEW; false for other
 * lines. */
static bool
inifile_split_option(const char *line, const char *sep, char **ret_name, char **ret_value)
{
    const char *from = line + strspn(line, BLANKS);
    size_t len = strlen(sep);

    for (const char *end = from; *end != '\0' && *++end != '\0';) {
        const char *at = end + strspn(end, BLANKS);
        while (at > end && strncmp(at, sep, len) != 0)
            at--;
        if (strncmp(at, sep, len) != 0)
            continue;
        *ret_name = xstrndup(from, (size_t) (end - from));
        *ret_value = xstrdup(at + len + strspn(at + len, BLANKS));
        return true;
    }
    return false;
}

static bool
is_comment(const char *line)
{
    const char *first = line + strspn(line, BLANKS);

    return *first == '#' || *first == ';';
}

/* ---- a section -------------------------------------------------------------------------------- */

/* What the lines of a section have been so far. */
typedef struct ini_reader {
    json_t *into; /* BORROWED */
    size_t comments, unknown;
    char *indent, *last; /* owned: of the last option; the last name */
} ini_reader_t;

static void
reader_put(ini_reader_t *r, const char *name, const char *value)
{
    json_object_set_new(r->into, name, value_utf8(value, strlen(value)));
    free(r->last);
    r->last = xstrdup(name);
}

static void
inifile_read_line(ini_reader_t *r, const char *line, const char *sep)
{
    AUTO_FREE char *blanks = xstrndup(line, strspn(line, BLANKS));
    AUTO_FREE char *indent = str_replace(blanks, "\t", "    "), *name = NULL, *value = NULL, *key = NULL;

    if (is_comment(line)) {
        key = xasprintf("#comment%zu", ++r->comments);
        reader_put(r, key, line);
    } else if (strcmp(indent, r->indent) > 0) {
        if (r->last == NULL)
            return;
        key = xasprintf("%s\n%s", value_str(r->into, r->last, ""), line);
        json_object_set_new(r->into, r->last, value_utf8(key, strlen(key)));
    } else if (inifile_split_option(line, sep, &name, &value)) {
        free(r->indent);
        r->indent = STEAL(indent);
        reader_put(r, name, value);
    } else {
        key = xasprintf("#unknown%zu", ++r->unknown);
        reader_put(r, key, line);
    }
}

static bool
is_blank(const char *line, bool blanks)
{
    return line[blanks ? strspn(line, BLANKS) : 0] == '\0';
}

/* Lines from..to: empty ones at either end are left out, beside a section's line those with blanks too. NEW. */
static json_t *
read_section(char *const *lines, size_t from, size_t to, bool after, bool before, const char *sep)
{
    json_t *section = json_object();
    ini_reader_t r = { .into = section, .indent = xstrdup("") };

    while (from < to && is_blank(lines[from], after))
        from++;
    while (from < to && is_blank(lines[to - 1], before))
        to--;
    for (; from < to; from++)
        inifile_read_line(&r, lines[from], sep);
    free(r.indent);
    free(r.last);
    return section;
}

/* ---- update ----------------------------------------------------------------------------------- */

/* Makes room for an option: in place of the first comment "#NAME SEP ...", else at the end. */
static void
place_option(json_t *section, const char *name, json_t *value, const char *sep)
{
    json_auto_t *later = json_object();
    AUTO_FREE char *found = NULL;
    const char *key;
    json_t *line;
    void *next;

    json_object_foreach_safe (section, next, key, line) {
        if (found != NULL) {
            json_object_set(later, key, line);
            continue;
        }
        AUTO_FREE char *has = NULL, *was = NULL;
        const char *text = strstr(key, "#comment") != NULL && json_is_string(line) ? json_string_value(line)
                                                                                   : "";
        if (inifile_split_option(text + strspn(text, "#"), sep, &has, &was) && strcmp(has, name) == 0)
            found = xstrdup(key);
    }
    json_object_foreach (later, key, line)
        json_object_del(section, key);
    if (found != NULL)
        json_object_del(section, found);
    json_object_set(section, name, value);
    json_object_update(section, later);
}

json_t *
inifile_update(json_t *ini, const json_t *wanted, const char *sep)
{
    json_t *changes = json_object(), *given;
    const char *name;

    json_object_foreach ((json_t *) wanted, name, given) {
        /* As it stands in the file: a text, or a section of texts. */
        AUTO_FREE char *text = json_is_object(given) ? NULL : value_pystr(given);
        json_auto_t *value = text != NULL ? value_utf8(text, strlen(text)) : json_object();
        if (text == NULL)
            json_decref(inifile_update(value, given, sep));
        json_t *has = value_get(ini, name);
        if (json_is_object(has)) {
            json_auto_t *sub = inifile_update(has, value, sep);
            if (json_object_size(sub) > 0)
                json_object_set(changes, name, sub);
            continue;
        }
        if (has != NULL && json_equal(has, value))
            continue;
        json_object_set_new(changes, name, json_pack("{s:O?, s:O}", "before", has, "after", value));
        if (has == NULL && json_is_string(value))
            place_option(ini, name, value, sep);
        else
            json_object_set(ini, name, value);
    }
    return changes;
}

json_t *
inifile_parse(const char *text, const char *sep)
{
    AUTO_FREE char *copy = xstrdup(text);
    char **lines = str_split(copy, "\n", false);
    size_t n = strv_len(lines), from = 0;
    AUTO_FREE char *name = NULL;
    json_t *ini = json_object();

    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(lines[i]);
        if (len > 0 && lines[i][len - 1] == '\r')
            lines[i][len - 1] = '\0';
    }
    for (size_t i = 0; i <= n; i++) {
        /* "[NAME]" begins a section. */
        AUTO_FREE char *line = xstrdup(i < n ? lines[i] : "");
        const char *head = str_trim(line);
        size_t head_len = strlen(head);
        bool begins = head_len > 2 && *head == '[' && head[head_len - 1] == ']';
        AUTO_FREE char *next = begins ? xstrndup(head + 1, head_len - 2) : NULL;
        if (next == NULL && i < n)
            continue;
        json_auto_t *section = read_section(lines, from, i, name != NULL, i < n, sep);
        json_auto_t *one = name != NULL ? json_pack("{s:O}", name, section) : NULL;
        if (one != NULL)
            json_decref(inifile_update(ini, one, sep));
        else
            json_object_update(ini, section);
        free(name);
        name = STEAL(next);
        from = i + 1;
    }
    strv_free(lines);
    return ini;
}

/* ---- text ------------------------------------------------------------------------------------- */

void
inifile_text(const json_t *ini, const char *sep, buf_t *out)
{
    bool blank = strcmp(sep, " ") == 0;
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *) ini, name, value) {
        if (json_is_string(value) && is_comment(name))
            buf_printf(out, "%s\n", json_string_value(value));
        else if (json_is_string(value))
            buf_printf(out, "%s%s%s%s%s\n", name, blank ? "" : " ", sep, blank ? "" : " ",
                       json_string_value(value));
    }
    json_object_foreach ((json_t *) ini, name, value) {
        if (!json_is_object(value))
            continue;
        buf_printf(out, "%s[%s]\n", out->len > 0 ? "\n" : "", name);
        inifile_text(value, sep, out);
    }
}

json_t *
inifile_options(const json_t *ini)
{
    json_t *plain = json_object(), *value;
    const char *name;

    json_object_foreach ((json_t *) ini, name, value) {
        if (*name != '#')
            json_object_set_new(plain, name,
                                json_is_object(value) ? inifile_options(value) : json_incref(value));
    }
    return plain;
}
