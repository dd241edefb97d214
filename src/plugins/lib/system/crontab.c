/* crontab.c - see crontab.h: crontabs as data and as text, and the program crontab that reads and installs
 * them. Lines above Salt's mark are kept as they are; below it, comments belong to the entry that follows,
 * and their last word may be its identifier. */
#include "plugins/lib/system/crontab.h"

#include <ctype.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/host/passwd.h"
#include "common/base/pyrandom.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"

#define MARK       "# Lines below here are managed by Salt, do not edit"
#define DISABLED   "#DISABLED#"
#define IDENTIFIER "SALT_CRON_IDENTIFIER"
#define NO_ID      "NO ID SET" /* how Salt says that an entry has none */

const char *const crontab_times[CRONTAB_TIMES + 1] = {
    "minute", "hour", "daymonth", "month", "dayweek", NULL
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Comments gather up to the entry that they belong to. */
typedef struct pending {
    char *comment, *identifier; /* owned */
} pending_t;

static void
pending_clear(pending_t *p)
{
    free(p->comment);
    free(p->identifier);
    *p = (pending_t){ NULL, NULL };
}

/* A tab is written back as it was, whatever encoding its owner uses. */
static json_t *
crontab_bytes(const char *text, size_t n)
{
    return json_stringn_nocheck(text, n);
}

/* NEW. */
static json_t *
text_or_none(const char *text)
{
    return text != NULL ? crontab_bytes(text, strlen(text)) : json_null();
}

/* Several comment lines are joined. */
static void
take_comment(pending_t *p, const char *line)
{
    const char *text = line + strspn(line, "# ");
    const char *at = strstr(text, IDENTIFIER);
    AUTO_FREE char *plain = at != NULL ? xstrndup(text, (size_t) (at - text)) : xstrdup(text);

    if (at != NULL) {
        (void) str_trim(plain);
        const char *id = at + strlen(IDENTIFIER);
        if (id[0] != '\0' && id[1] != '\0') {
            free(p->identifier);
            p->identifier = xstrdup(id + 1);
        }
    }
    char *whole = p->comment != NULL ? xasprintf("%s\n%s", p->comment, plain) : xstrdup(plain);
    free(p->comment);
    p->comment = whole;
}

/* NEW entry with what belongs to every kind. */
static json_t *
crontab_entry_of(const pending_t *p, const char *cmd, bool commented)
{
    return json_pack("{s:o, s:o, s:o, s:b}", "identifier", text_or_none(p->identifier), "cmd",
                     text_or_none(cmd), "comment", text_or_none(p->comment), "commented", commented);
}

/* "@daily COMMAND"; a line without a command is dropped. */
static void
take_special(json_t *tab, pending_t *p, const char *line, bool commented)
{
    size_t n = strcspn(line, " \t");
    const char *cmd = line + n + strspn(line + n, " \t");

    if (*cmd == '\0')
        return;
    json_t *entry = crontab_entry_of(p, cmd, commented);
    json_object_set_new(entry, "spec", crontab_bytes(line, n));
    json_array_append_new(value_get(tab, "special"), entry);
    pending_clear(p);
}

/* Five fields, one blank after each, and the command. */
static void
take_cron(json_t *tab, pending_t *p, const char *line, bool commented)
{
    json_auto_t *entry = json_object();
    const char *rest = line;

    for (size_t i = 0; i < CRONTAB_TIMES; i++) {
        size_t n = strcspn(rest, " ");
        if (rest[n] == '\0')
            return;
        json_object_set_new(entry, crontab_times[i], crontab_bytes(rest, n));
        rest += n + 1;
    }
    json_auto_t *whole = crontab_entry_of(p, rest, commented);
    json_object_update(entry, whole);
    json_array_append(value_get(tab, "crons"), entry);
    pending_clear(p);
}

/* One line below the mark: an entry, a comment or a variable. */
static void
crontab_take_line(json_t *tab, pending_t *p, const char *line)
{
    bool commented = str_starts(line, DISABLED);
    const char *equal, *blank;

    line += commented ? strlen(DISABLED) : 0;
    equal = strchr(line, '=');
    blank = strchr(line, ' ');
    if (*line == '@')
        take_special(tab, p, line, commented);
    else if (*line == '#')
        take_comment(p, line);
    else if (equal != NULL && equal > line && (blank == NULL || equal < blank))
        json_array_append_new(value_get(tab, "env"),
                              json_pack("{s:o, s:o}", "name", crontab_bytes(line, (size_t) (equal - line)),
                                        "value", crontab_bytes(equal + 1, strlen(equal + 1))));
    else
        take_cron(tab, p, line, commented);
}

/* {pre, crons, special, env}. Never fails: unusable lines below the mark are dropped. NEW. */
json_t *
crontab_parse(const char *text)
{
    json_t *tab = json_pack("{s:[], s:[], s:[], s:[]}", "pre", "crons", "special", "env");
    char **lines = str_split(text, "\n", false);
    pending_t p = { NULL, NULL };
    bool ours = false;

    for (char **line = lines; *line != NULL; line++) {
        if (line[1] == NULL && **line == '\0')
            break;
        if (strcmp(*line, MARK) == 0)
            ours = true;
        else if (ours)
            crontab_take_line(tab, &p, *line);
        else
            json_array_append_new(value_get(tab, "pre"), crontab_bytes(*line, strlen(*line)));
    }
    pending_clear(&p);
    strv_free(lines);
    return tab;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void
put_entry(buf_t *out, const json_t *entry)
{
    const char *comment = value_str(entry, "comment", ""), *id = value_str(entry, "identifier", "");

    if (!json_is_null(value_get(entry, "comment")) || !json_is_null(value_get(entry, "identifier"))) {
        AUTO_FREE char *lines = str_replace(comment, "\n", "\n# ");
        buf_printf(out, "#%s%s", *comment != '\0' ? " " : "", lines);
        if (*id != '\0')
            buf_printf(out, " " IDENTIFIER ":%s", id);
        buf_putc(out, '\n');
    }

    buf_puts(out, value_bool(entry, "commented", false) ? DISABLED : "");
    if (value_get(entry, "spec") != NULL)
        buf_printf(out, "%s ", value_str(entry, "spec", ""));
    for (size_t i = 0; i < CRONTAB_TIMES && value_get(entry, "spec") == NULL; i++)
        buf_printf(out, "%s ", value_str(entry, crontab_times[i], "*"));
    buf_printf(out, "%s\n", value_str(entry, "cmd", ""));
}

/* Variables, entries and special entries, in this order. NEW. */
char *
crontab_text(const json_t *tab)
{
    buf_auto_t out = BUF_INIT;
    json_t *v;
    size_t i;

    json_array_foreach (value_get(tab, "pre"), i, v)
        buf_printf(&out, "%s\n", json_string_value(v));
    buf_puts(&out, MARK "\n");
    json_array_foreach (value_get(tab, "env"), i, v) {
        const char *value = value_str(v, "value", "");
        buf_printf(&out, "%s=%s\n", value_str(v, "name", ""), *value != '\0' ? value : "\"\"");
    }
    json_array_foreach (value_get(tab, "crons"), i, v)
        put_entry(&out, v);
    json_array_foreach (value_get(tab, "special"), i, v)
        put_entry(&out, v);
    return xstrdup(buf_str(&out));
}

/* ---- what may be written --------------------------------------------------------------------- */

/* A comment may have several lines, each of which is written as one. */
int
crontab_check_entry(const json_t *entry, fail_t *err)
{
    static const struct {
        const char *member, *argument, *separators;
    } rows[] = {
        { "cmd", "cmd", FIELD_LINE },      { "identifier", "identifier", FIELD_LINE },
        { "spec", "special", FIELD_WORD }, { "minute", "minute", FIELD_WORD },
        { "hour", "hour", FIELD_WORD },    { "daymonth", "daymonth", FIELD_WORD },
        { "month", "month", FIELD_WORD },  { "dayweek", "dayweek", FIELD_WORD },
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(rows); i++)
        rc = field_check(rows[i].argument, value_get(entry, rows[i].member), rows[i].separators, err);
    return rc;
}

int
crontab_check_env(const json_t *name, const json_t *value, fail_t *err)
{
    int rc = field_check("name", name, FIELD_WORD "=", err);

    return rc == 0 ? field_check("value", value, FIELD_LINE, err) : rc;
}

/* ---- which entry, and whether it is right ---------------------------------------------------- */

/* By the identifier, else by the command. */
bool
crontab_is(const json_t *entry, const char *cmd, const char *identifier)
{
    const char *id = value_str(entry, "identifier", "");
    bool same_cmd = str_eq(value_str(entry, "cmd", NULL), cmd);

    id = *id != '\0' ? id : NO_ID;
    identifier = str_empty(identifier) ? NO_ID : identifier;
    if (strcmp(id, NO_ID) == 0)
        /* An entry that somebody wrote without an identifier is known by its command. */
        return same_cmd;
    return strcmp(id, identifier) == 0;
}

/* None and equal values do not differ; "random" differs only from "*". */
bool
crontab_differs(const json_t *have, const json_t *want)
{
    if (want == NULL || json_is_null(want) || (have != NULL && value_equal(have, want)))
        return false;
    if (json_is_string(want) && strcmp(json_string_value(want), "random") == 0)
        return json_is_string(have) && strcmp(json_string_value(have), "*") == 0;
    return true;
}

/* Another one on every host: that is what it is for. The bounds may be anything that somebody wrote. */
static char *
crontab_draw(long low, long high)
{
    AUTO(pyrandom) random = pyrandom_new(NULL, NULL);
    int64_t drawn = low;

    (void) pyrandom_int(random, low, high, &drawn, NULL);
    return xasprintf("%ld", (long) drawn);
}

/* "random" and "LOW:HIGH" are drawn; everything else is the text in lower case. NEW. */
char *
crontab_time(const char *field, const char *text, const char *month)
{
    static const struct {
        const char *field;
        long low, high;
    } ranges[] = { { "minute", 0, 59 }, { "hour", 0, 23 }, { "month", 1, 12 }, { "dayweek", 0, 6 } };
    AUTO_FREE char *plain = xstrdup(text);
    long a, b;
    char rest;

    for (char *c = plain; *c != '\0'; c++)
        *c = (char) tolower((unsigned char) *c);
    if (strcmp(plain, "random") == 0) {
        for (size_t i = 0; i < NELEMS(ranges); i++) {
            if (strcmp(ranges[i].field, field) == 0)
                return crontab_draw(ranges[i].low, ranges[i].high);
        }
        /* A month that is "*" or several has at least 28 days. */
        AUTO_FREE char *word = xasprintf(" %s ", month);
        return crontab_draw(1, strstr(" 1 3 5 7 8 10 12 ", word) != NULL ? 31
                               : strstr(" 4 6 9 11 ", word) != NULL      ? 30
                                                                         : 28);
    }
    if (strcmp(field, "daymonth") != 0 && sscanf(plain, "%ld:%ld%c", &a, &b, &rest) == 2)
        return crontab_draw(a < b ? a : b, a < b ? b : a);
    return STEAL(plain);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Our own tab needs no -u, and only root may name another user's. */
static int
crontab_begin(prog_t *prog, const char *user, fail_t *err)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_user(&space, user);

    if (tool_begin(prog, "crontab", err) < 0)
        return err->code;
    if (pw == NULL || pw->pw_uid != geteuid())
        prog_adds(prog, "-u", user, NULL);
    return 0;
}

/* True when a failed `crontab -l` says that the user has no crontab: Debian's and cronie's words, busybox's,
 * System V's. */
static bool
says_none(const char *said, const char *user)
{
    static const char system_v[] = "can't open your crontab file";
    AUTO_FREE char *busybox = xasprintf("can't open '%s': No such file or directory", user);
    const char *at = strstr(said, system_v);

    return strstr(said, "no crontab for ") != NULL || strstr(said, busybox) != NULL ||
           (at != NULL && at[strlen(system_v)] != ':');
}

/* Rejects a listing that is not text or was truncated: writing it back would lose entries. */
static int
check_whole(const char *user, const proc_result_t *res, fail_t *err)
{
    if (res->dropped > 0)
        return fail_kind(err, FAIL_COMMAND, -EFBIG,
                         "The crontab of %s is longer than the %d bytes allowed here", user,
                         LIMIT_CMD_OUTPUT);
    if (res->out.len > 0 && memchr(res->out.data, '\0', res->out.len) != NULL)
        return fail_kind(err, FAIL_COMMAND, -EILSEQ,
                         "The crontab of %s holds NUL bytes; take them out with crontab -e", user);
    return 0;
}

/* "" when the user has no crontab; with `look` also for an unknown user. NEW, or NULL with *err. */
char *
crontab_read(const char *user, bool look, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    passwd_space_auto_t space = { 0 };
    proc_result_t res = { 0 };
    char *tab = NULL;

    if (crontab_begin(&prog, user, err) < 0)
        return NULL;
    prog_add(&prog, "-l");
    int rc = prog_run(&prog, &res, err);
    if (rc == 0 && res.status == 0 && check_whole(user, &res, err) == 0) {
        const char *text = buf_str(&res.out);
        /* Debian's crontab puts three lines of its own in front. */
        for (int i = str_starts(text, "# DO NOT EDIT THIS FILE - edit the master") ? 3 : 0; i > 0; i--)
            text += strcspn(text, "\n") + (text[strcspn(text, "\n")] != '\0');
        tab = xstrdup(text);
    } else if (rc == 0 && res.status != 0) {
        bool none = res.status == 1 && res.out.len == 0 && says_none(buf_str(&res.errs), user);
        if (none || (look && passwd_user(&space, user) == NULL))
            tab = xstrdup("");
        else {
            /* Fails with the words of crontab. */
            json_auto_t *said = value_utf8(buf_str(&res.errs), res.errs.len);
            AUTO_FREE char *copy = xstrdup(json_string_value(said));
            const char *words = str_trim(copy);
            (void) fail_kind(err, FAIL_COMMAND, -EIO,
                             "Cannot read the crontab of %s, so it is left as it is: crontab -l %s %d%s%s",
                             user, res.status < 0 ? "was ended by signal" : "ended with exit code",
                             abs(res.status), *words != '\0' ? ": " : " and said nothing", words);
        }
    }
    proc_result_free(&res);
    return tab;
}

/* 0; 1 with *ret_said NEW, the words of crontab; or negative with *err. */
int
crontab_write(call_ctx_t *ctx, const char *user, const char *text, char **ret_said, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (crontab_begin(&prog, user, err) < 0)
        return err->code;
    prog_add(&prog, "-");
    prog.in = text;
    json_auto_t *answer = tool_run(ctx, &prog, TOOL_QUIET, err);
    if (answer == NULL)
        return err->code;
    if (value_int(answer, "retcode", 1) == 0)
        return 0;
    *ret_said = xstrdup(value_str(answer, "stderr", ""));
    return 1;
}
