/* logfmt.c - see logfmt.h.
 *
 * A format is parsed again for each line: a parsed copy would have to be kept and freed while other threads
 * log. */
#include "common/base/logfmt.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"

enum { WIDTH_MAX = 200 };

#define US_PER_S 1000000
#define RESET    "\033[0m"
#define GREEN    "0;1;32" /* Salt's colour of names */
#define BLUE     "0;1;34" /* Salt's colour of processes */

/* The source of a line's fields: the record, and the formats of some fields. */
typedef struct parts {
    const log_record_t *r;
    const char *datefmt, *jidfmt;
} parts_t;

/* A field by its name. Exactly one of the three functions is set; a text is NEW. */
typedef struct field {
    const char *name;
    char *(*text)(const parts_t *p);
    int64_t (*number)(const log_record_t *r);
    double (*real)(const log_record_t *r);
} field_t;

/* A field of a format, "%(field)-10.3s" behind the '%'. */
typedef struct spec {
    const field_t *field;
    bool left, zero;
    size_t width, precision; /* SIZE_MAX: none */
    char conversion;
} spec_t;

/* ---- the fields ------------------------------------------------------------------------------- */

static char *
text_asctime(const parts_t *p)
{
    return clock_strftime(*p->datefmt != '\0' ? p->datefmt : "%Y-%m-%d %H:%M:%S", p->r->wall_us);
}

static char *
text_name(const parts_t *p)
{
    return xstrdup(p->r->name);
}

static char *
text_levelname(const parts_t *p)
{
    return xstrdup(p->r->levelname);
}

static char *
text_pathname(const parts_t *p)
{
    return xstrdup(p->r->path);
}

static const char *
logfmt_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static char *
text_filename(const parts_t *p)
{
    return xstrdup(logfmt_base_name(p->r->path));
}

static char *
text_module(const parts_t *p)
{
    const char *base = logfmt_base_name(p->r->path);

    return xstrndup(base, strcspn(base, "."));
}

static char *
text_func(const parts_t *p)
{
    return xstrdup(p->r->func);
}

static char *
text_program(const parts_t *p)
{
    return xstrdup(p->r->program);
}

static char *
text_message(const parts_t *p)
{
    return xstrdup(p->r->message);
}

static char *
text_minion(const parts_t *p)
{
    return xstrdup(p->r->minion_id);
}

/* In `jidfmt` itself %(jid)s is the bare id. */
static char *
text_jid(const parts_t *p)
{
    buf_auto_t out = BUF_INIT;

    if (p->jidfmt == NULL || *p->r->jid == '\0')
        return xstrdup(p->r->jid);
    logfmt_put(&out, p->jidfmt, p->datefmt, NULL, p->r);
    return xstrdup(buf_str(&out));
}

static char *
text_bracketname(const parts_t *p)
{
    return xasprintf("[%-17s]", p->r->name);
}

static char *
text_bracketlevel(const parts_t *p)
{
    return xasprintf("[%-8s]", p->r->levelname);
}

static char *
text_bracketprocess(const parts_t *p)
{
    return xasprintf("[%5d]", (int) getpid());
}

/* Wraps a text in a colour. TAKES `text`. */
static char *
coloured(const parts_t *p, const char *colour, char *text)
{
    if (p->r->level_colour == NULL)
        return text;
    char *out = xasprintf("\033[%sm%s" RESET, colour, text);
    free(text);
    return out;
}

static char *
text_colorname(const parts_t *p)
{
    return coloured(p, GREEN, text_bracketname(p));
}

static char *
text_colorlevel(const parts_t *p)
{
    return coloured(p, p->r->level_colour, text_bracketlevel(p));
}

static char *
text_colorprocess(const parts_t *p)
{
    return coloured(p, BLUE, text_bracketprocess(p));
}

static char *
text_colormsg(const parts_t *p)
{
    return coloured(p, p->r->message_colour, text_message(p));
}

static int64_t
number_level(const log_record_t *r)
{
    return r->levelno;
}

static int64_t
logfmt_number_line(const log_record_t *r)
{
    return r->line;
}

static int64_t
number_process(const log_record_t *r)
{
    return getpid();
}

static int64_t
number_thread(const log_record_t *r)
{
    return gettid();
}

static double
real_created(const log_record_t *r)
{
    return (double) r->wall_us / US_PER_S;
}

static double
real_msecs(const log_record_t *r)
{
    return (double) (r->wall_us % US_PER_S) / 1000;
}

/* Python's attributes of a LogRecord that a format may name, and those that Salt adds: bracket* and color*.
 * The error about an unknown field lists them in this order. */
static const field_t fields[] = {
    { "asctime", .text = text_asctime },
    { "bracketlevel", .text = text_bracketlevel },
    { "bracketname", .text = text_bracketname },
    { "bracketprocess", .text = text_bracketprocess },
    { "colorlevel", .text = text_colorlevel },
    { "colormsg", .text = text_colormsg },
    { "colorname", .text = text_colorname },
    { "colorprocess", .text = text_colorprocess },
    { "created", .real = real_created },
    { "filename", .text = text_filename },
    { "funcName", .text = text_func },
    { "jid", .text = text_jid },
    { "levelname", .text = text_levelname },
    { "levelno", .number = number_level },
    { "lineno", .number = logfmt_number_line },
    { "message", .text = text_message },
    { "minion_id", .text = text_minion },
    { "module", .text = text_module },
    { "msecs", .real = real_msecs },
    { "name", .text = text_name },
    { "pathname", .text = text_pathname },
    { "process", .number = number_process },
    { "processName", .text = text_program },
    { "thread", .number = number_thread },
};

/* ---- reading a format ------------------------------------------------------------------------- */

/* Digits that lead beyond WIDTH_MAX are read and not counted: the caller refuses the number, and none
 * overflows. */
static const char *
scan_number(const char *at, size_t *ret_n)
{
    for (*ret_n = 0; *at >= '0' && *at <= '9'; at++)
        if (*ret_n <= WIDTH_MAX)
            *ret_n = *ret_n * 10 + (size_t) (*at - '0');
    return at;
}

/* Python's conversions for the field's type; a real number may be written as an integer. */
static const char *
conversions_of(const field_t *field)
{
    return field->text != NULL ? "s" : field->number != NULL ? "dis" : "dif";
}

/* Reads a field from behind its '%' to behind its conversion; NULL with *err. */
static const char *
scan_spec(const char *at, spec_t *spec, fail_t *err)
{
    size_t len = *at == '(' ? strcspn(at + 1, ")") : 0;

    *spec = (spec_t){ .precision = SIZE_MAX };
    if (*at != '(' || at[1 + len] == '\0') {
        fail_set(err, -EINVAL,
                 "a '%%' begins '%%(name)s', or is written '%%%%', and here it stands before '%.20s'", at);
        return NULL;
    }
    for (size_t i = 0; i < NELEMS(fields) && spec->field == NULL; i++)
        if (strncmp(fields[i].name, at + 1, len) == 0 && fields[i].name[len] == '\0')
            spec->field = &fields[i];
    if (spec->field == NULL) {
        /* Reports the field that the format does not know. */
        const char *name = at + 1;
        buf_auto_t all = BUF_INIT;
        for (size_t i = 0; i < NELEMS(fields); i++)
            buf_printf(&all, "%s%s", i > 0 ? ", " : "", fields[i].name);
        (void) fail_set(err, -EINVAL, "there is no field '%.*s'; there are %s", (int) len, name,
                        buf_str(&all));

        return NULL;
    }
    /* Flags, width and precision, as in Python's "%(name)-10.3s". */
    for (at += len + 2; *at == '-' || *at == '0'; at++) {
        spec->left |= *at == '-';
        spec->zero |= *at == '0';
    }
    at = scan_number(at, &spec->width);
    if (*at == '.')
        at = scan_number(at + 1, &spec->precision);
    spec->conversion = *at;
    if (*at == '\0' || strchr(conversions_of(spec->field), *at) == NULL) {
        fail_set(err, -EINVAL,
                 "'%%(%s)' ends with one of the letters '%s', optionally behind '-' or '0', a width and a "
                 "precision",
                 spec->field->name, conversions_of(spec->field));
        return NULL;
    }
    if (spec->width > WIDTH_MAX || (spec->precision > WIDTH_MAX && spec->precision != SIZE_MAX)) {
        fail_set(err, -EINVAL, "'%%(%s)' is at most %d characters wide", spec->field->name, WIDTH_MAX);
        return NULL;
    }
    return at + 1;
}

int
logfmt_check(const char *format, fail_t *err)
{
    spec_t spec;

    while (*(format = strchrnul(format, '%')) != '\0') {
        format = format[1] == '%' ? format + 2 : scan_spec(format + 1, &spec, err);
        if (format == NULL)
            return -EINVAL;
    }
    return 0;
}

/* ---- putting a line --------------------------------------------------------------------------- */

/* The bytes of the first `most` characters of a UTF-8 text, and their number. */
static size_t
logfmt_measure(const char *text, size_t most, size_t *ret_chars)
{
    size_t i = 0;

    for (*ret_chars = 0; text[i] != '\0'; i++) {
        bool begins = ((unsigned char) text[i] & 0xc0) != 0x80;
        if (begins && *ret_chars == most)
            break;
        *ret_chars += begins;
    }
    return i;
}

static char *
spec_text(const spec_t *spec, const parts_t *p)
{
    const field_t *field = spec->field;

    if (field->text != NULL)
        return field->text(p);
    if (field->number != NULL)
        return xasprintf("%lld", (long long) field->number(p->r));
    if (spec->conversion != 'f')
        return xasprintf("%lld", (long long) field->real(p->r));
    return xasprintf("%.*f", spec->precision == SIZE_MAX ? 6 : (int) spec->precision, field->real(p->r));
}

void
logfmt_put(buf_t *out, const char *format, const char *datefmt, const char *jidfmt,
           const log_record_t *record)
{
    const parts_t parts = { record, datefmt, jidfmt };

    while (format != NULL && *format != '\0') {
        size_t plain = strcspn(format, "%");
        spec_t spec;
        buf_add(out, format, plain);
        format += plain;
        if (*format == '\0')
            return;
        if (format[1] == '%') {
            buf_putc(out, '%');
            format += 2;
            continue;
        }
        format = scan_spec(format + 1, &spec, NULL);
        if (format != NULL) {
            AUTO_FREE char *text = spec_text(&spec, &parts);
            size_t chars,
                bytes = logfmt_measure(text, spec.field->text != NULL ? spec.precision : SIZE_MAX, &chars);
            size_t pad = chars < spec.width ? spec.width - chars : 0;
            char filler = spec.zero && spec.field->text == NULL && !spec.left ? '0' : ' ';

            if (!spec.left)
                buf_fill(out, filler, pad);
            buf_add(out, text, bytes);
            if (spec.left)
                buf_fill(out, ' ', pad);
        }
    }
}

static void
logfmt_put_member(buf_t *out, const char *name, const char *text)
{
    buf_printf(out, ", \"%s\": ", name);

    /* Appends a JSON string. Few characters need escapes: others are visible already. */
    static const char special[] = "\"\\\n\t", letter[] = "\"\\nt";
    buf_putc(out, '"');
    while (*text != '\0') {
        size_t plain = strcspn(text, special);
        buf_add(out, text, plain);
        text += plain;
        if (*text != '\0')
            buf_printf(out, "\\%c", letter[strchr(special, *text++) - special]);
    }
    buf_putc(out, '"');
}

void
logfmt_json(buf_t *out, const log_record_t *record)
{
    char stamp[CLOCK_STAMP_LEN];

    clock_stamp(stamp, record->wall_us);
    buf_printf(out, "{\"time\": \"%sZ\"", stamp);
    logfmt_put_member(out, "level", record->level);
    logfmt_put_member(out, "name", record->name);
    logfmt_put_member(out, "program", record->program);
    buf_printf(out, ", \"process\": %d", (int) getpid());
    logfmt_put_member(out, "file", record->path);
    buf_printf(out, ", \"line\": %d", record->line);
    if (*record->minion_id != '\0')
        logfmt_put_member(out, "minion_id", record->minion_id);
    if (*record->jid != '\0')
        logfmt_put_member(out, "jid", record->jid);
    logfmt_put_member(out, "message", record->message);
    buf_putc(out, '}');
}

size_t
logfmt_json_last(char *out, size_t room, const char *line, size_t len)
{
    static const char head[] = "{\"level\": \"critical\", \"name\": \"salt\", \"message\": \"",
                      tail[] = "\"}\n";
    size_t n = sizeof(head) - 1;

    memcpy(out, head, n);
    for (size_t i = 0; i < len && n + sizeof(tail) < room; i++)
        if (line[i] != '\n')
            out[n++] = line[i] < ' ' || line[i] > '~' || line[i] == '\\' || line[i] == '"' ? '?' : line[i];
    memcpy(out + n, tail, sizeof(tail) - 1);
    return n + sizeof(tail) - 1;
}
