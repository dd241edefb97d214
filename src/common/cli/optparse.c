/* optparse.c - parses command lines as Python's optparse does. */
#include "common/cli/optparse.h"

#include <ctype.h>
#include <math.h>

#include "common/base/str.h"
#include "common/cli/optrow.h"
#include "common/cli/saltfile.h"
#include "common/cli/versions.h"
#include "salt/limits.h"
#include "salt/value.h"

enum { GO_ON = -1, EXIT_USAGE = 64, DEFAULT_COLUMNS = 80, MARGIN = 2 };

typedef struct parser {
    const opt_spec_t *spec;
    opt_result_t *res;
    char **argv; /* what is left of the command line */
    int argc;
    const char *opt;   /* the option at hand as it is called in messages */
    char letter[3];    /* holds the text of a short option, "-v" */
    json_t *exclusive; /* dest: {name: true}, for given flags that exclude each other */
    bool report;       /* --versions-report was given: the rest is still checked first */
} parser_t;

/* ---- errors ---------------------------------------------------------------------------------- */

static void
usage(const opt_spec_t *spec, buf_t *out)
{
    AUTO_FREE char *text = str_replace(spec->usage, "%prog", spec->prog);

    buf_printf(out, "Usage: %s\n\n", text);
}

int
optparse_error(const opt_spec_t *spec, const char *fmt, ...)
{
    buf_auto_t out = BUF_INIT;
    va_list ap;

    usage(spec, &out);
    buf_printf(&out, "%s: error: ", spec->prog);
    va_start(ap, fmt);
    buf_vprintf(&out, fmt, ap);
    va_end(ap);
    (void) fflush(stdout);
    (void) fprintf(stderr, "%s\n", buf_str(&out));
    return EXIT_USAGE;
}

/* The text as Python's %r shows it in optparse's errors. NEW. */
static char *
optparse_quoted(const char *text)
{
    json_auto_t *value = value_utf8(text, strlen(text));

    return value_repr(value);
}

/* ---- one value ------------------------------------------------------------------------------- */

static int
optparse_set_int(parser_t *p, const char *key, const char *text)
{
    /* By optparse's rules 0x.. and 0b.. have their radix, and a leading 0 means octal. */
    static const struct {
        const char *prefix;
        int radix;
        size_t skip;
    } radixes[] = { { "0x", 16, 0 }, { "0b", 2, 2 }, { "0o", 8, 2 }, { "0", 8, 0 }, { "", 10, 0 } };
    size_t i = 0;
    char *end;

    while (strncasecmp(text, radixes[i].prefix, strlen(radixes[i].prefix)) != 0)
        i++;
    const char *digits = text + radixes[i].skip;
    errno = 0;
    json_int_t v = strtoll(digits, &end, radixes[i].radix);
    if (errno != 0 || end == digits || end[strspn(end, " \t\n\r\f\v")] != '\0') {
        AUTO_FREE char *shown = optparse_quoted(text);
        return optparse_error(p->spec, "option %s: invalid integer value: %s", p->opt, shown);
    }
    (void) json_object_set_new_nocheck(p->res->values, key, json_integer(v));
    return GO_ON;
}

static int
set_float(parser_t *p, const char *key, const char *text)
{
    double v;

    /* Parses a number as Python's float(), which strtod() exceeds: it knows hexadecimal and "nan(...)". */
    char *end;

    v = strtod(text, &end);
    if (end <= text || end[strspn(end, " \t\n\r\f\v")] != '\0' || strpbrk(text, "xX(") != NULL) {
        AUTO_FREE char *shown = optparse_quoted(text);
        return optparse_error(p->spec, "option %s: invalid floating-point value: %s", p->opt, shown);
    }

    /* JSON has no infinity; the largest number means as long a wait. */
    v = isnan(v) ? 0 : fmax(fmin(v, 1e300), -1e300);
    (void) json_object_set_new_nocheck(p->res->values, key, json_real(v));
    return GO_ON;
}

/* Reports a value that is not among "a|b|c". */
static int
bad_choice(parser_t *p, const char *choices, const char *text)
{
    AUTO_FREE char *shown = optparse_quoted(text);
    buf_auto_t list = BUF_INIT;

    for (const char *c = choices; *c != '\0';) {
        size_t len = strcspn(c, "|");
        buf_printf(&list, "%s'%.*s'", list.len > 0 ? ", " : "", (int) len, c);
        c += len + (c[len] == '|' ? 1 : 0);
    }
    return optparse_error(p->spec, "option %s: invalid choice: %s (choose from %s)", p->opt, shown,
                          buf_str(&list));
}

static bool
is_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);

    for (const char *c = choices; *c != '\0';) {
        size_t n = strcspn(c, "|");
        if (n == len && strncmp(c, text, n) == 0)
            return true;
        c += n + (c[n] == '|' ? 1 : 0);
    }
    return false;
}

static int
set_bool(parser_t *p, const char *key, const char *text)
{
    bool yes = str_eq(text, "True") || str_eq(text, "true");

    if (!yes && !str_eq(text, "False") && !str_eq(text, "false"))
        return bad_choice(p, "True|False", text);
    (void) json_object_set_new_nocheck(p->res->values, key, json_boolean(yes));
    return GO_ON;
}

/* "a,b"; given again, the option adds to its list. */
static int
optparse_add_list(parser_t *p, const char *key, const char *text)
{
    char **parts = str_split(text, ",", false);
    json_t *list = json_object_get(p->res->values, key);

    if (list == NULL) {
        list = json_array();
        (void) json_object_set_new_nocheck(p->res->values, key, list);
    }
    for (size_t i = 0; parts[i] != NULL; i++) {
        const char *part = str_trim(parts[i]);
        (void) json_array_append_new(list, value_utf8(part, strlen(part)));
    }
    strv_free(parts);
    return GO_ON;
}

static int
optparse_set_text(parser_t *p, const char *key, const char *text)
{
    (void) json_object_set_new_nocheck(p->res->values, key, value_utf8(text, strlen(text)));
    return GO_ON;
}

/* Says what becomes of an option of Salt's that does nothing here. GO_ON, or the exit code. */
static int
optparse_tell(parser_t *p, const opt_row_t *row)
{
    if (row->refused != NULL)
        return optparse_error(p->spec, "%s: %s", p->opt, row->refused);
    if (row->idle != NULL)
        (void) fprintf(stderr, "%s: %s has no effect in Halite: %s\n", p->spec->prog, p->opt, row->idle);
    return GO_ON;
}

/* ---- flags ----------------------------------------------------------------------------------- */

static int
do_flag(parser_t *p, const opt_row_t *row)
{
    AUTO_FREE char *key = optrow_key(row);

    if (row->value != NULL) {
        /* Remembers that a flag was given which picks one of several values, for
         * optparse_check_exclusive(). */
        size_t len;
        const char *first = optrow_first_name(row, &len);
        AUTO_FREE char *name = xstrndup(first, len);
        json_t *names = json_object_get(p->exclusive, key);
        if (names == NULL) {
            names = json_object();
            (void) json_object_set_new_nocheck(p->exclusive, key, names);
        }
        (void) json_object_set_new_nocheck(names, name, json_true());
    }
    (void) json_object_set_new_nocheck(p->res->values, key,
                                       row->value != NULL ? json_string_nocheck(row->value) : json_true());
    return GO_ON;
}

static int
do_unflag(parser_t *p, const opt_row_t *row)
{
    AUTO_FREE char *key = optrow_key(row);

    (void) json_object_set_new_nocheck(p->res->values, key, json_false());
    return GO_ON;
}

/* "-v -v" counts 2. */
static int
do_count(parser_t *p, const opt_row_t *row)
{
    AUTO_FREE char *key = optrow_key(row);

    (void) json_object_set_new_nocheck(p->res->values, key,
                                       json_integer(value_int(p->res->values, key, 0) + 1));
    return GO_ON;
}

/* Prints and flushes the text now: a full disk must not end as success. Returns the exit code. */
static int
print(const char *text)
{
    if (fputs(text, stdout) != EOF && fflush(stdout) == 0)
        return EXIT_SUCCESS;
    if (errno != EPIPE) /* the reader has ended: no error for the user */
        (void) fprintf(stderr, "Standard output can't be written: %s\n", strerror(errno));
    return EXIT_FAILURE;
}

static int
do_help(parser_t *p, const opt_row_t *row)
{
    const char *columns = getenv("COLUMNS");
    long long width;
    buf_auto_t out = BUF_INIT;

    if (columns == NULL || !str_to_int(columns, 1, INT16_MAX, &width))
        width = DEFAULT_COLUMNS;
    optparse_help(p->spec, (int) width - MARGIN, &out);
    return print(buf_str(&out));
}

static int
do_version(parser_t *p, const opt_row_t *row)
{
    AUTO_FREE char *line = xasprintf("%s %s\n", p->spec->prog, versions_product());

    return print(line);
}

/* --versions-report waits until the rest was checked: a wrong option is an error beside it, too. */
static int
do_report(parser_t *p, const opt_row_t *row)
{
    p->report = true;
    return GO_ON;
}

typedef int flag_fn(parser_t *p, const opt_row_t *row);
static flag_fn *const flags[] = {
    [OPT_FLAG] = do_flag, [OPT_UNFLAG] = do_unflag,   [OPT_COUNT] = do_count,
    [OPT_HELP] = do_help, [OPT_VERSION] = do_version, [OPT_VERSIONS_REPORT] = do_report
};

/* ---- the command line ------------------------------------------------------------------------ */

/* The next word of the command line. The caller has seen that there is one. */
static char *
optparse_take(parser_t *p)
{
    p->argc--;
    return *p->argv++;
}

/* Takes the option's value: the attached text, else the next argument. */
static int
with_value(parser_t *p, const opt_row_t *row, const char *attached)
{
    if (attached == NULL && p->argc == 0)
        return optparse_error(p->spec, "%s option requires 1 argument", p->opt);

    /* Checks a value and stores it by the kind of its option. */
    const char *text = attached != NULL ? attached : optparse_take(p);
    static int (*const setters[])(parser_t *, const char *,
                                  const char *) = { [OPT_STR] = optparse_set_text,
                                                    [OPT_INT] = optparse_set_int,
                                                    [OPT_FLOAT] = set_float,
                                                    [OPT_BOOL] = set_bool,
                                                    [OPT_LIST] = optparse_add_list };
    AUTO_FREE char *key = optrow_key(row);

    if (row->choices != NULL && !is_choice(row->choices, text))
        return bad_choice(p, row->choices, text);
    if (row->once && json_object_get(p->res->values, key) != NULL)
        return optparse_error(p->spec, "option %s: given more than once", p->opt);
    return setters[row->kind](p, key, text);
}

static const char *
optparse_next_word(void *cookie)
{
    char ***at = cookie;

    return *at != NULL && **at != NULL ? *(*at)++ : NULL;
}

/* The error for a long name that no row has, with the nearest one that there is. */
static int
no_such_option(const parser_t *p, const char *word)
{
    size_t n = 0, len;
    char **names = NULL;
    const opt_row_t *row;
    const char *name;

    for (size_t t = 0, r = 0; (row = optrow_next(p->spec, &t, &r)) != NULL;)
        for (const char *pos = row->names; (name = optrow_next_name(&pos, &len)) != NULL;)
            if (optrow_is_long(name)) {
                names = xrealloc(names, (n + 2) * sizeof(*names));
                /* Without the dashes, which would make short names alike. */
                names[n++] = xstrndup(name + 2, len - 2);
                names[n] = NULL;
            }
    char **at = names;
    const char *near = str_suggest(word + 2, optparse_next_word, &at);
    int rc = near != NULL ? optparse_error(p->spec, "no such option: %s; is '--%s' meant?", word, near)
                          : optparse_error(p->spec, "no such option: %s", word);
    strv_free(names);
    return rc;
}

/* Finds the row of a long name, or of a prefix that only one name has. *ret_name is the whole name, NEW. */
static int
match_long(parser_t *p, const char *word, const opt_row_t **ret_row, char **ret_name)
{
    size_t word_len = strlen(word), n = 0, len;
    char **names = NULL;
    const opt_row_t *row;
    const char *name;
    bool exact = false;
    int rc = GO_ON;

    for (size_t t = 0, r = 0; !exact && (row = optrow_next(p->spec, &t, &r)) != NULL;) {
        for (const char *pos = row->names; !exact && (name = optrow_next_name(&pos, &len)) != NULL;) {
            if (!optrow_is_long(name) || len < word_len || strncmp(name, word, word_len) != 0)
                continue;
            exact = len == word_len;
            names = xrealloc(names, (n + 2) * sizeof(*names));
            names[n++] = xstrndup(name, len);
            names[n] = NULL;
            *ret_row = row;
        }
    }
    if (n == 0)
        rc = no_such_option(p, word);
    else if (n > 1 && !exact) {
        /* "ambiguous option: --out (--out-file, --out-indent?)" */
        buf_auto_t list = BUF_INIT;
        qsort(names, n, sizeof(*names), str_by_text);
        for (size_t i = 0; i < n; i++)
            buf_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
        rc = optparse_error(p->spec, "ambiguous option: %s (%s?)", word, buf_str(&list));
    } else
        *ret_name = xstrdup(names[n - 1]);
    strv_free(names);
    return rc;
}

/* "--timeout=5", "--timeout 5", and any beginning of the name that is unique. */
static int
long_option(parser_t *p, const char *arg)
{
    const char *equals = strchr(arg, '=');
    AUTO_FREE char *word = equals != NULL ? xstrndup(arg, (size_t) (equals - arg)) : xstrdup(arg);
    AUTO_FREE char *name = NULL;
    const opt_row_t *row = NULL;
    int rc = match_long(p, word, &row, &name);

    if (rc != GO_ON)
        return rc;
    p->opt = name;
    rc = optparse_tell(p, row);
    if (rc != GO_ON)
        return rc;
    if (optrow_takes_value(row))
        return with_value(p, row, equals != NULL ? equals + 1 : NULL);
    if (equals != NULL)
        return optparse_error(p->spec, "%s option does not take a value", name);
    return flags[row->kind](p, row);
}

static const opt_row_t *
match_short(const opt_spec_t *spec, char c)
{
    const opt_row_t *row;
    const char *name;
    size_t len;

    for (size_t t = 0, r = 0; (row = optrow_next(spec, &t, &r)) != NULL;) {
        for (const char *pos = row->names; (name = optrow_next_name(&pos, &len)) != NULL;) {
            if (!optrow_is_long(name) && len == 2 && name[1] == c)
                return row;
        }
    }
    return NULL;
}

/* Reads short options in a row, "-vt5". The last one may take the rest as its value. */
static int
short_options(parser_t *p, const char *arg)
{
    for (const char *c = arg + 1; *c != '\0'; c++) {
        const opt_row_t *row = match_short(p->spec, *c);
        p->letter[0] = '-';
        p->letter[1] = *c;
        p->opt = p->letter;
        if (row == NULL)
            return optparse_error(p->spec, "no such option: %s", p->opt);
        int rc = optparse_tell(p, row);
        if (rc != GO_ON)
            return rc;
        if (optrow_takes_value(row))
            return with_value(p, row, c[1] != '\0' ? c + 1 : NULL);
        rc = flags[row->kind](p, row);
        if (rc != GO_ON)
            return rc;
    }
    return GO_ON;
}

/* Reads the whole command line. Everything behind "--" is an argument; behind the first argument too, unless
 * the program allows options there. */
static int
optparse_parse(parser_t *p)
{
    bool options = true;
    int rc = GO_ON;

    while (rc == GO_ON && p->argc > 0) {
        const char *arg = optparse_take(p);
        if (!options || arg[0] != '-' || arg[1] == '\0') {
            /* Keeps a positional argument. */
            opt_result_t *res = p->res;
            res->args = xrealloc(res->args, (res->n_args + 2) * sizeof(char *));
            res->args[res->n_args++] = xstrdup(arg);
            res->args[res->n_args] = NULL;

            options = options && p->spec->interspersed;
        } else if (str_eq(arg, "--")) {
            options = false;
        } else {
            rc = optrow_is_long(arg) ? long_option(p, arg) : short_options(p, arg);
        }
    }
    return rc;
}

/* Refuses a command line with two flags that exclude each other. */
static int
optparse_check_exclusive(parser_t *p)
{
    const char *key;
    json_t *given;

    json_object_foreach (p->exclusive, key, given) {
        buf_auto_t list = BUF_INIT;
        if (json_object_size(given) < 2)
            continue;

        /* Appends "--pcre/--list": the given names, in the order of the tables, as Salt's message has
         * them. */
        const opt_row_t *row;
        size_t len;
        for (size_t t = 0, r = 0; (row = optrow_next(p->spec, &t, &r)) != NULL;) {
            const char *first = optrow_first_name(row, &len);
            AUTO_FREE char *name = xstrndup(first, len);
            if (json_object_get(given, name) != NULL)
                buf_printf(&list, "%s%s", list.len > 0 ? "/" : "", name);
        }

        return optparse_error(
            p->spec, "The options %s are mutually exclusive. Please only choose one of them", buf_str(&list));
    }
    return GO_ON;
}

/* Parses stdin for --args-stdin: each line is one more argument or option. */
static int
parse_stdin(parser_t *p)
{
    buf_auto_t in = BUF_INIT;
    char chunk[BUFSIZ];
    size_t n;

    while ((n = fread(chunk, 1, sizeof(chunk), stdin)) > 0) {
        if (in.len + n > LIMIT_ARGS_STDIN)
            return optparse_error(p->spec, "more than %d bytes of arguments on stdin", LIMIT_ARGS_STDIN);
        buf_add(&in, chunk, n);
    }
    if (ferror(stdin))
        return optparse_error(p->spec, "the arguments on stdin can't be read: %s", strerror(errno));
    if (in.len > 0 && memchr(in.data, '\0', in.len) != NULL)
        return optparse_error(p->spec, "the arguments on stdin have a NUL byte");
    while (in.len > 0 && in.data[in.len - 1] == '\n')
        in.data[--in.len] = '\0';
    if (in.len == 0)
        return GO_ON;
    char **lines = str_split(in.data, "\n", false);
    for (size_t i = 0; lines[i] != NULL; i++)
        lines[i][strcspn(lines[i], "\r")] = '\0';
    p->argv = lines;
    p->argc = (int) strv_len(lines);
    int rc = optparse_parse(p);
    strv_free(lines);
    return rc;
}

/* Reads what the Saltfile has for this program and the command line has not. */
static int
optparse_saltfile(parser_t *p)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = NULL;
    char **words = NULL;
    int rc = saltfile_words(p->spec, p->res->values, &words, &path, &err) == 0
                 ? GO_ON
                 : optparse_error(p->spec, "%s", fail_text(&err));

    json_object_del(p->res->values, "saltfile");
    p->argv = words;
    p->argc = rc == GO_ON && words != NULL ? (int) strv_len(words) : 0;
    if (rc == GO_ON && p->argc > 0 && (rc = optparse_parse(p)) != GO_ON)
        (void) fprintf(stderr, "That is of the Saltfile %s\n", path);
    strv_free(words);
    return rc;
}

/* GO_ON (-1): the program runs, with *ret filled; otherwise its exit code. opt_result_free() in any case. */
int
optparse_run(const opt_spec_t *spec, int argc, char **argv, opt_result_t *ret)
{
    json_auto_t *exclusive = json_object();
    parser_t p = { .spec = spec, .res = ret, .argv = argv, .argc = argc, .exclusive = exclusive };

    *ret = (opt_result_t){ json_object(), xcalloc(1, sizeof(char *)), 0 };
    if (argc > 0)
        (void) optparse_take(&p); /* the program's name */
    int rc = optparse_parse(&p);
    if (rc == GO_ON && value_bool(ret->values, "args_stdin", false))
        rc = parse_stdin(&p);
    if (rc == GO_ON)
        rc = optparse_saltfile(&p);
    if (rc == GO_ON && p.report) {
        buf_auto_t out = BUF_INIT;
        versions_report(&out);
        return print(buf_str(&out));
    }
    if (rc == GO_ON && spec->bare && ret->n_args > 0)
        return optparse_error(spec, "unexpected argument: '%s'", ret->args[0]);
    return rc == GO_ON ? optparse_check_exclusive(&p) : rc;
}

void
opt_result_free(opt_result_t *res)
{
    json_decref(res->values);
    strv_free(res->args);
    *res = (opt_result_t){ NULL, NULL, 0 };
}
