/* show.c - see show.h: the last step of every command. Chooses the outputter and colours, formats, and writes
 * to stdout or the output file; errors of writing are reported once, and a reader who has gone is not an
 * error to report. */
#include "cli/show.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/output/suited.h"
#include "common/base/str.h"
#include "common/cli/ttyguard.h"
#include "salt/log.h"
#include "salt/value.h"

/* Outputter by precedence: --out, the return's own, the function's; highstate is never forced on other
 * data. */
const char *
show_choose(const char *asked, const char *out, const char *fun)
{
    /* --out=highstate does not force its shape upon data that is none. */
    if (!str_empty(asked) && !str_eq(asked, "highstate"))
        return asked;
    if (!str_empty(out))
        return out;
    if (fun == NULL)
        return "nested";
    return !str_empty(asked) || str_starts(fun, "state.") ? "highstate" : "nested";
}

bool
show_wants_colour(bool force, bool no, const json_t *conf, const char *env, bool terminal)
{
    if (force)
        return true;
    if (no || !str_empty(env))
        return false;
    return conf != NULL ? value_truthy(conf) : terminal;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* The option as given, else the configuration's. */
static const json_t *
show_setting(const json_t *values, const json_t *conf, const char *name)
{
    const json_t *v = value_get(values, name);

    return v != NULL ? v : value_get(conf, name);
}

/* True when a file could be created at the path. */
static bool
may_be_made(const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *folder = slash != NULL ? xstrndup(path, (size_t) (slash - path) + 1) : xstrdup(".");

    return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0;
}

/* The output file is checked before the job: an error found after it would cost the output. Pipes and devices
 * are opened when there is something for them, as the reader of a pipe takes a close for the end. */
static int
ready_file(const char *path, bool append, fail_t *err)
{
    struct stat st;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return 0;
    AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
    if (fd >= 0 || (errno == ENOENT && may_be_made(path)))
        return 0;
    return fail_set(err, -errno, "%s: Access denied: %s", path, strerror(errno));
}

int
show_init(show_t *self, const json_t *values, const json_t *conf, fail_t *err)
{
    const char *out = json_string_value(show_setting(values, conf, "output"));
    const char *file = json_string_value(show_setting(values, conf, "output_file"));

    *self = (show_t){ .opts = OUTPUT_OPTS_INIT };
    self->output = str_empty(out) ? NULL : out;
    self->file = str_empty(file) ? NULL : file;
    self->conf = conf;
    self->quiet = value_bool(values, "quiet", false);
    output_opts_t *o = &self->opts;
    o->indent = (int) value_int(values, "output_indent", OUTPUT_INDENT_DEFAULT);
    bool colour = show_wants_colour(value_bool(values, "force_color", false),
                                    value_bool(values, "no_color", false), value_get(conf, "color"),
                                    getenv("NO_COLOR"), self->file == NULL && isatty(STDOUT_FILENO) == 1);
    o->person = self->file == NULL && isatty(STDOUT_FILENO) == 1;
    o->colour = self->file == NULL ? ttyguard_paint(colour) : colour ? PAINT_PLAIN : PAINT_NONE;
    output_opts_read(o, values, conf);
    return self->file != NULL ? ready_file(self->file, value_bool(values, "output_file_append", false), err)
                              : 0;
}

void
show_args(show_t *self, const json_t *arg)
{
    size_t i;
    json_t *one;

    json_array_foreach (arg, i, one) {
        if (value_get(one, "__kwarg__") == NULL)
            continue;
        self->opts.exclude = value_get(one, "exclude") != NULL ? value_get(one, "exclude")
                                                               : self->opts.exclude;
        self->opts.terse = value_get(one, "terse") != NULL ? value_get(one, "terse") : self->opts.terse;
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Said once: the rest is lost for the same reason. Nothing is said of a reader who has gone. */
static void
show_unwritten(show_t *self, const char *where)
{
    int code = errno;

    if (!self->failed && code != EPIPE) {
        progress_clear(self->progress);
        (void) fprintf(stderr, "%s can't be written: %s\n", where, strerror(code));
    }
    self->failed = true;
}

/* While returns come quickly, output is held and flushed as one. */
static void
write_stdout(show_t *self, const buf_t *text)
{
    if (self->held)
        (void) ttyguard_hold(true);
    if (fwrite(buf_str(text), 1, text->len, stdout) != text->len || (!self->held && !ttyguard_hold(false)))
        show_unwritten(self, "Standard output");
}

void
show_flush(show_t *self)
{
    if (!ttyguard_hold(false))
        show_unwritten(self, "Standard output");
}

/* Formats and writes; the progress line is cleared first. */
static void
show_as(show_t *self, const json_t *data, const char *out, int retcode)
{
    buf_auto_t text = BUF_INIT;

    bool users = !output_known(out) && self->others != NULL && self->others(self->conf, out, data, &text);
    if (!users && !output_known(out)) {
        log_error("Invalid outputter %s specified, fall back to nested", out);
        out = "nested";
    }
    self->opts.out = out;
    self->opts.retcode = retcode;
    if (!users)
        output_format(data, &self->opts, &text);
    progress_clear(self->progress);
    if (text.len == 0)
        return;
    if (self->file != NULL) {
        AUTO_FILE f = fopen(self->file, "ae");

        if (f == NULL || !ttyguard_write(f, &text))
            show_unwritten(self, self->file);
    } else
        write_stdout(self, &text);
}

void
show_data(show_t *self, const json_t *data, const char *out, int retcode)
{
    if (!self->quiet)
        show_as(self, data, show_choose(self->output, out, NULL), retcode);
}

void
show_group(show_t *self, const json_t *data, const char *fun)
{
    show_as(self, data, show_choose(self->output, NULL, fun), 0);
}

void
show_text(show_t *self, const char *text)
{
    json_auto_t *data = value_utf8(text, strlen(text));

    show_data(self, data, NULL, 1);
}

void
show_print(show_t *self, const char *fmt, ...)
{
    buf_auto_t text = BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    progress_clear(self->progress);
    write_stdout(self, &text);
}

void
show_error(show_t *self, const char *fmt, ...)
{
    va_list ap;

    progress_clear(self->progress);
    show_flush(self);
    va_start(ap, fmt);
    (void) vfprintf(stderr, fmt, ap);
    va_end(ap);
}
