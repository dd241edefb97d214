/* repofile.c - see repofile.h: reads as Python's configparser does, and keeps lines that begin with "#". */
#include "plugins/lib/packages/repofile.h"

#include <ctype.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "salt/log.h"

enum { REPO_FILE_MAX = 4 << 20 };

/* ---- reading ---------------------------------------------------------------------------------- */

/* Where the reader is in a file. */
typedef struct repofile {
    const char *path; /* BORROWED */
    json_t *sections; /* {section: {option: text}} */
    buf_t header;
    json_t *section; /* BORROWED, NULL above the first */
    char *option;    /* owned: a value that may go on in the next line */
} repofile_t;

static void
end_value(repofile_t *f)
{
    free(f->option);
    f->option = NULL;
}

static int
repofile_take_option(repofile_t *f, char *line, size_t number, bool strict, fail_t *err)
{
    size_t at = strcspn(line, "=:");

    if (line[at] == '\0' || at == 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Source contains parsing errors: '%s'\n\t[line %2zu]: '%s\\n'", f->path, number,
                         line);
    line[at] = '\0';
    char *key = str_trim(line);
    for (char *c = key; *c != '\0'; c++)
        *c = (char) tolower((unsigned char) *c);
    if (strict && value_get(f->section, key) != NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "While reading from '%s' [line %2zu]: option '%s' already exists", f->path, number,
                         key);
    char *value = str_trim(line + at + 1);
    json_object_set_new(f->section, key, value_utf8(value, strlen(value)));
    end_value(f);
    f->option = xstrdup(key);
    return 0;
}

static int
take_section(repofile_t *f, char *line, size_t number, bool strict, fail_t *err)
{
    *strchr(line, ']') = '\0';
    json_t *known = value_get(f->sections, line + 1);

    end_value(f);
    if (known != NULL && strict)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "While reading from '%s' [line %2zu]: section '%s' already exists", f->path, number,
                         line + 1);
    if (known == NULL)
        json_object_set_new(f->sections, line + 1, json_object());
    f->section = value_get(f->sections, line + 1);
    return 0;
}

static int
repofile_take_line(repofile_t *f, char *line, size_t number, bool strict, fail_t *err)
{
    bool inner = isspace((unsigned char) *line) != 0;
    char *text = str_trim(line);

    /* Comments above the first section are the file's; all others are the section's, wherever they stand. */
    if (*text == '#' && f->section == NULL) {
        buf_printf(&f->header, "%s\n", text);
        return 0;
    }
    if (*text == '#') {
        if (value_get(f->section, "comments") == NULL)
            json_object_set_new(f->section, "comments", json_array());
        json_array_append_new(value_get(f->section, "comments"),
                              json_string(text + 1 + strspn(text + 1, " \t")));
        return 0;
    }
    if (*text == '\0' || *text == ';')
        return 0;
    if (inner && f->option != NULL) {
        json_object_set_new(f->section, f->option,
                            value_fmt("%s\n%s", value_str(f->section, f->option, ""), text));
        return 0;
    }
    if (*text == '[' && strchr(text, ']') != NULL)
        return take_section(f, text, number, strict, err);
    if (f->section == NULL)
        return 1;
    return repofile_take_option(f, text, number, strict, err);
}

json_t *
repofile_read(const char *path, bool strict, buf_t *header, fail_t *err)
{
    repofile_t f = { .path = path, .sections = json_object() };
    buf_auto_t text = BUF_INIT;
    int rc = fs_read_any(path, REPO_FILE_MAX, &text, err);
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    size_t number = 0;

    for (char *at = copy, *line; rc >= 0 && (line = line_next(&at)) != NULL;) {
        rc = repofile_take_line(&f, line, ++number, strict, err);
        if (rc == 1) {
            log_error("Failed to parse file %s, error: File contains no section headers.", path);
            json_object_clear(f.sections);
            buf_clear(&f.header);
            break;
        }
    }
    end_value(&f);
    if (header != NULL)
        buf_puts(header, buf_str(&f.header));
    buf_free(&f.header);
    if (rc < 0) {
        json_decref(f.sections);
        return NULL;
    }
    return f.sections;
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* Lines of a value that follow are indented, or they would be options. */
int
repofile_write(const char *path, const char *header, const json_t *sections, fail_t *err)
{
    buf_auto_t out = BUF_INIT;
    const char *name, *key;
    json_t *section, *v;

    buf_puts(&out, header);
    json_object_foreach ((json_t *) sections, name, section) {
        buf_printf(&out, "[%s]\n", name);
        json_object_foreach (section, key, v) {
            if (str_eq(key, "comments"))
                continue;
            AUTO_FREE char *text = value_pystr(v);
            AUTO_FREE char *folded = str_replace(text, "\n", "\n ");
            buf_printf(&out, "%s=%s\n", key, json_is_boolean(v) ? (json_is_true(v) ? "1" : "0") : folded);
        }
        json_t *comments = value_get(section, "comments");
        json_auto_t *list = comments != NULL && !json_is_array(comments) ? json_pack("[O]", comments)
                                                                         : json_incref(comments);
        /* "# text" for each line of each comment. */
        size_t i;
        json_array_foreach (list, i, v) {
            AUTO_FREE char *text = value_pystr(v);
            const char *at = text + strspn(text, "#");
            AUTO_FREE char *lines = str_replace(at + strspn(at, " \t"), "\n", "\n# ");
            buf_printf(&out, "# %s\n", lines);
        }
        buf_putc(&out, '\n');
    }
    return fs_rewrite(path, buf_str(&out), out.len, 0644, err);
}
