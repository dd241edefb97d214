/* confpage.c - the manual page of a configuration file, from the table of options: heeded options by section,
 * then Salt's options that have no effect. */
#include "common/base/str.h"
#include "manual/manual.h"

typedef struct printer {
    buf_t *out;
    buf_t needless; /* names of options of Salt that have no effect and need none */
    const char *last;
    conf_effect_t wanted;
} printer_t;

/* Callback of conf_each(): a new section gets its heading. */
static void
each_heeded(void *cookie, const char *section, const option_row_t *row)
{
    printer_t *p = cookie;

    if (row->effect != CONF_HEEDED)
        return;
    if (p->last == NULL || !str_eq(section, p->last))
        roff_subsection(p->out, section);
    p->last = section;

    /* Behind the option's help its bounds: "Known: a, b." or "From 1 to 65535.", if it has some. */
    buf_t known = BUF_INIT;
    for (size_t i = 0; row->names != NULL && row->names[i] != NULL; i++)
        buf_printf(&known, "%s%s", i == 0 ? "Known: " : ", ", row->names[i]);
    if (row->min != 0 || row->max != 0)
        buf_printf(&known, "From %.15g to %.15g", row->min, row->max);
    if (known.len > 0)
        buf_putc(&known, '.');
    AUTO_FREE char *bounds = buf_steal(&known);
    AUTO_FREE char *dflt = conf_default_text(row);
    AUTO_FREE char *text = xasprintf("%s%s%s", row->help, *bounds != '\0' ? "\n" : "", bounds);
    roff_entry(p->out, row->name, text);
    if (row->live == CONF_LIVE)
        buf_puts(p->out, "[live]\n");
    roff_lines(p->out, ROFF_ENTRY, dflt);
}

/* Callback of conf_each(): options without an effect have a replacement, or are gathered for the list. */
static void
each_other(void *cookie, const char *section, const option_row_t *row)
{
    printer_t *p = cookie;

    if (row->effect == CONF_MISSED)
        roff_entry(p->out, row->name, row->instead);
    else if (row->effect == CONF_NEEDLESS)
        buf_printf(&p->needless, "%s%s", p->needless.len > 0 ? ", " : "", row->name);
}

static void
put_foot(buf_t *out, const char *side)
{
    bool master = str_eq(side, "master");
    AUTO_FREE char *path = xasprintf("/etc/salt/%s", side);
    AUTO_FREE char *more = xasprintf("/etc/salt/%s.d/*.conf", side);

    roff_section(out, "EXAMPLES");
    roff_paragraph(out, master ? "State files and pillar in other folders, and old jobs kept for a week:"
                               : "A minion with a name of its own that knows its master's key beforehand:");
    roff_lines(out, ROFF_EXAMPLE,
               master ? "file_roots:\n  base:\n    - /srv/states\npillar_roots:\n  base:\n    - "
                        "/srv/secrets\nkeep_jobs_seconds: 604800"
                      : "id: web1.example.com\nmaster: salt.example.com\nmaster_finger: "
                        "1a:2b:3c:4d:5e:6f:70:81:92:a3:b4:c5:d6:e7:f8:09:1a:2b:3c:4d:5e:6f:70:81:92:a3:"
                        "b4:c5:d6:e7:f8:09");
    roff_section(out, "FILES");
    roff_entry(out, path, "This file. A sample with every option is installed with the programs.");
    roff_entry(out, more, "Further files, which override it.");
    roff_section(out, "SEE ALSO");
    roff_see(out, master ? "salt-master(8) salt-minion.conf(5) salt(1) salt-run(1) salt-key(1)"
                         : "salt-minion(8) salt-master.conf(5) salt-call(1)");
}

void
confpage_print(conf_side_t side, const char *date, buf_t *out)
{
    const char *name = side == CONF_MASTER ? "master" : "minion";
    AUTO_FREE char *title = xasprintf("salt-%s.conf", name);
    AUTO_FREE char *summary = xasprintf("configuration of salt-%s", name);
    AUTO_FREE char *path = xasprintf("/etc/salt/%s, /etc/salt/%s.d/*.conf", name, name);
    printer_t p = { .out = out, .needless = BUF_INIT };

    roff_head(out, title, 5, date, summary);
    roff_section(out, "SYNOPSIS");
    roff_paragraph(out, path);

    /* Prints what the page is about. */
    AUTO_FREE char *what = xasprintf(
        "salt-%s reads this file when it starts and, on SIGHUP, again. It is YAML: a mapping from "
        "options to values. What is not there has its default, which is below each option as "
        "the line that would say it.",
        name);
    AUTO_FREE char *more = xasprintf(
        "Files in %s.d whose names end in .conf come after it, in the order of their names, and override "
        "it option by option (default_include). An unknown option is a warning that suggests a known "
        "one; a wrong value is an error with file and line, and the program does not start.",
        name);
    roff_section(out, "DESCRIPTION");
    roff_paragraph(out, what);
    roff_paragraph(out, more);
    roff_paragraph(
        out,
        "A value, or a part of one, may be an address: sdb://PROFILE/KEY. PROFILE is an option of the "
        "user's own, a mapping with the name of a driver: env, rest, sqlite3, vault, yaml, or a file in "
        "Python (sdb_dirs). What the driver says is the value. Those of env are asked for first, then "
        "those of yaml and sqlite3, then all others, so that a profile may itself have an address of the "
        "kinds before it. Drivers run as the user of the option user, and have 20 seconds together, 5 in "
        "a reload. The program does not start, and a reload leaves all as it was, when a driver fails, "
        "and when an option of this page has no such profile, or its store no value; an option of a "
        "module then keeps the address, or is null. salt, salt-run, salt-key and salt-cp ask no store: "
        "for them such an option has its default.");
    roff_paragraph(out, "A reload (SIGHUP) takes over the options that are marked [live]; the others wait "
                        "for the next start.");

    roff_section(out, "OPTIONS");
    conf_each(side, each_heeded, &p);
    roff_section(out, "OPTIONS OF SALT THAT HAVE NO EFFECT");
    roff_paragraph(out, "Who sets one of these is warned. Instead:");
    conf_each(side, each_other, &p);
    roff_paragraph(out, "These concern Salt's own machinery and are accepted without a word:");
    roff_paragraph(out, buf_str(&p.needless));
    buf_free(&p.needless);
    put_foot(out, name);
}
