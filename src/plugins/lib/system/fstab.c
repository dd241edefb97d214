/* fstab.c - see fstab.h. */
#include "plugins/lib/system/fstab.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"

static const char *const fields[] = { "device", "name", "fstype", "opts", "dump", "pass_num" };

enum { FIELDS_LEAST = 4, FIELDS = NELEMS(fields) };

json_t *
fstab_parse(const char *line, size_t len)
{
    AUTO_FREE char *text = xstrndup(line, len);
    char **words = str_split(text, " \t\r\n\v\f", true);
    size_t n = strv_len(words);
    json_t *entry = *text != '#' && n >= FIELDS_LEAST && n <= FIELDS ? json_object() : NULL;

    for (size_t i = 0; entry != NULL && i < FIELDS; i++)
        json_object_set_new(entry, fields[i],
                            i < n ? value_utf8(words[i], strlen(words[i])) : json_string("0"));
    strv_free(words);
    return entry;
}

char *
fstab_line(const json_t *entry)
{
    return xasprintf("%s\t\t%s\t%s\t%s\t%s %s\n", value_str(entry, "device", ""),
                     value_str(entry, "name", ""), value_str(entry, "fstype", ""),
                     value_str(entry, "opts", ""), value_str(entry, "dump", ""),
                     value_str(entry, "pass_num", ""));
}

/* The options of a text, sorted. NEW. */
static json_t *
fstab_options(const json_t *opts)
{
    char **words = str_split(json_string_value(opts), ",", false);
    json_auto_t *list = json_array();

    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    strv_free(words);
    return value_sorted_texts(list);
}

bool
fstab_is(const json_t *entry, const json_t *want)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *) want, key, value) {
        const json_t *has = value_get(entry, key);
        if (strcmp(key, "opts") != 0) {
            if (!value_equal(has, value))
                return false;
            continue;
        }
        json_auto_t *a = fstab_options(has), *b = fstab_options(value);
        if (!value_equal(a, b))
            return false;
    }
    return true;
}

char *
fstab_field(const char *value)
{
    buf_t out = BUF_INIT;

    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\\' && c[1] == ' ')
            continue;
        if (*c == ' ')
            buf_puts(&out, "\\040");
        else if (*c == '\t')
            buf_puts(&out, "\\011");
        else
            buf_putc(&out, *c);
    }
    return out.data != NULL ? buf_steal(&out) : xstrdup("");
}

fstab_edit_t
fstab_edit(const char *text, const json_t *criteria, const json_t *entry, bool keep, buf_t *out)
{
    fstab_edit_t did = FSTAB_NONE;

    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');
        json_auto_t *has = fstab_parse(line, len);
        bool meant = has != NULL && fstab_is(has, criteria);
        if (!meant || (entry != NULL && (keep || fstab_is(has, entry)))) {
            buf_add(out, line, whole);
            did = meant && did == FSTAB_NONE ? FSTAB_SAME : did;
        } else {
            AUTO_FREE char *fresh = entry != NULL ? fstab_line(entry) : NULL;
            buf_puts(out, fresh != NULL ? fresh : "");
            did = FSTAB_CHANGED;
        }
        line += whole;
    }
    return did;
}

int
fstab_read(const char *path, buf_t *out, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_FILE_READ, out, &why);

    return rc < 0
               ? fop_failed(err, "Couldn't read from %s: [Errno %d] %s: '%s'", path, -rc, strerror(-rc), path)
               : 0;
}
