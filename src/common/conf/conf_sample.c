/* conf_sample.c - print the sample files conf/master and conf/minion: every option with its help, its default
 * commented out. The output is generated and compared by a lint. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "common/data/yaml.h"

enum { WIDTH = 80 };

typedef struct sample_row {
    const char *section; /* a heading, or */
    const char *name;    /* an option */
    conf_side_t side;
} sample_row_t;

#define MASTER                                              CONF_MASTER
#define MINION                                              CONF_MINION
#define BOTH                                                CONF_BOTH
#define SECTION(title)                                      { title, NULL, CONF_BOTH },
#define OPTION_ROW(name, type, side, dflt, live, help, ...) { NULL, #name, side },
static const sample_row_t rows[] = {
#include "salt/options.def"
};

/* Words in comment lines of at most WIDTH columns. */
static void
put_wrapped(buf_t *out, const char *text)
{
    char **words = str_split(text, " ", true);
    size_t column = 0;

    for (size_t i = 0; words[i] != NULL; i++) {
        size_t len = strlen(words[i]);
        if (i == 0 || column + 1 + len > WIDTH) {
            buf_printf(out, "%s# %s", i == 0 ? "" : "\n", words[i]);
            column = 2 + len;
        } else {
            buf_printf(out, " %s", words[i]);
            column += 1 + len;
        }
    }
    buf_puts(out, "\n");
    strv_free(words);
}

char *
conf_default_text(const option_row_t *row)
{
    json_t *v = conf_default(row);

    if (v == NULL || json_is_null(v)) {
        json_decref(v);
        return xasprintf("%s:\n", row->name);
    }
    json_auto_t *pair = json_object();
    json_object_set_new(pair, row->name, v);
    return yaml_dump(pair, 0);
}

void
conf_each(conf_side_t side, conf_each_fn *fn, void *cookie)
{
    const char *section = "";

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (rows[i].section != NULL)
            section = rows[i].section;
        else if ((rows[i].side & side) != 0)
            fn(cookie, section, conf_row(rows[i].name, side));
    }
}

typedef struct sample {
    buf_t out;
    const char *section, *help; /* the last ones */
} sample_t;

/* Appends one option to the sample file: its section when that is new, its help as a comment and its
 * default. */
static void
sample_option(void *cookie, const char *section, const option_row_t *row)
{
    sample_t *s = cookie;
    bool live = row->live == CONF_LIVE && row->effect == CONF_HEEDED;

    if (s->section == NULL || !str_eq(section, s->section)) {
        /* A line of '#' with the title in it, as in Salt's own files. */
        buf_t *out = &s->out;
        buf_printf(out, "\n#####  %s  ", section);
        for (size_t used = strlen(section) + 9; used < WIDTH; used++)
            buf_putc(out, '#');
        buf_puts(out, "\n");
    }
    s->section = section;
    if (s->help == NULL ||
        !str_eq(s->help, row->help)) { /* options without effect for the same reason share one text */
        AUTO_FREE char *help = xasprintf("%s%s", row->help, live ? " [live]" : "");
        buf_puts(&s->out, "\n");
        put_wrapped(&s->out, help);
    }
    s->help = row->help;

    /* Comment out each line of the default. */
    buf_t *out = &s->out;
    AUTO_FREE char *text = conf_default_text(row);
    char **lines = str_split(text, "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++)
        buf_printf(out, "#%s\n", lines[i]);
    strv_free(lines);
}

char *
conf_sample(conf_side_t side)
{
    sample_t s = { .out = BUF_INIT };

    buf_printf(&s.out, "# Configuration of salt-%s. What is commented out is the default.\n#\n",
               side == CONF_MASTER ? "master" : "minion");
    put_wrapped(
        &s.out,
        "Files in the folder of default_include override this one. A reload (SIGHUP) takes over the options "
        "that are marked [live]; the others wait for the next start.");
    conf_each(side, sample_option, &s);
    return buf_steal(&s.out);
}
