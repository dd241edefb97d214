/* filters_text.c - filters from text to text, most of them methods of str. Results of Markup stay Markup
 * where Jinja's do. */
#include "common/jinja/filter/filter.h"

static py_t *
filters_text_on_text(py_t *v, const char *method)
{
    AUTO(py) s = jsoft_str(v);
    return s != NULL ? jmethod(s, method, 0) : NULL;
}

static py_t *
do_capitalize(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return filters_text_on_text(a[0], "capitalize");
}

static py_t *
do_upper(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return filters_text_on_text(a[0], "upper");
}

static py_t *
do_lower(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return filters_text_on_text(a[0], "lower");
}

static py_t *
do_center(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) s = jsoft_str(a[0]);
    AUTO(py) width = py_int(80);
    return s != NULL ? jmethod(s, "center", 1, jarg(a[1], width)) : NULL;
}

static py_t *
do_trim(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) s = jsoft_str(a[0]);
    return s != NULL ? jmethod(s, "strip", 1, jarg(a[1], PY_None)) : NULL;
}

/* Appends a word: its first character upper, the rest lower. */
static int
filters_text_add_word(py_t *out, const py_t *s, const char *word, const char *end)
{
    if (word == end)
        return 0;
    if (py_tick() < 0)
        return -1;
    const char *second = char_end(word, end);
    AUTO(py) first = py_part(s, word, (size_t) (second - word));
    AUTO(py) rest = py_part(s, second, (size_t) (end - second));
    py_t *upper = jmethod(first, "upper", 0);
    py_t *lower = upper != NULL ? jmethod(rest, "lower", 0) : NULL;
    if (upper != NULL)
        py_append_new(out, upper);
    if (lower != NULL)
        py_append_new(out, lower);
    return lower != NULL ? 0 : -1;
}

/* Words begin after white space, '-' or an opening bracket. */
static py_t *
do_title(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) s = jsoft_str(a[0]);
    if (s == NULL)
        return NULL;
    size_t len;
    const char *p = py_text(s, &len), *end = p + len, *word = p;
    AUTO(py) parts = py_list();
    bool separator = false;
    for (; p < end; p = char_end(p, end)) {
        size_t space = space_at(p, end);
        bool sep = space > 0 || (*p != '\0' && strchr("-({[<", *p) != NULL);
        if (sep != separator) {
            if (filters_text_add_word(parts, s, word, p) < 0)
                return NULL;
            word = p;
            separator = sep;
        }
    }
    if (filters_text_add_word(parts, s, word, end) < 0)
        return NULL;
    AUTO(py) empty = py_str("", 0);
    return jmethod(empty, "join", 1, parts);
}

/* With autoescape the text is escaped first when one of the arguments is safe. */
static py_t *
do_replace(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) all = py_int(-1);
    py_t *count = a[3] == NULL || py_is(a[3], PY_NONE) ? all : a[3];
    bool escape = ctx->autoescape;
    bool markup = escape && (py_has_html(a[1]) || (py_has_html(a[2]) && !py_has_html(a[0])));
    AUTO(py) s = markup ? py_escape(a[0]) : escape ? jsoft_str(a[0]) : py_tostr(a[0]);
    AUTO(py) old = s == NULL ? NULL : escape ? jsoft_str(a[1]) : py_tostr(a[1]);
    AUTO(py) new = old == NULL ? NULL : escape ? jsoft_str(a[2]) : py_tostr(a[2]);
    return new != NULL ? jmethod(s, "replace", 3, old, new, count) : NULL;
}

/* `%` formatting with positional or keyword arguments, not both. */
static py_t *
do_format(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    if (args->n > 1 && args->nkw > 0)
        return py_raise(&jinja_FilterArgumentError,
                        "can't handle positional and keyword arguments at the same time");
    AUTO(py) s = jsoft_str(a[0]);
    if (s == NULL)
        return NULL;
    AUTO(py) values = args->nkw > 0 ? py_dict() : py_tuple(args->n - 1);
    for (size_t i = 0; i < args->nkw; i++)
        py_dict_set(values, args->names[i], args->kwv[i]);
    for (size_t i = 1; args->nkw == 0 && i < args->n; i++)
        py_tuple_set(values, i - 1, args->v[i]);
    return py_percent(s, values);
}

/* The text may be `leeway` characters longer. Without killwords the last word is dropped. */
static py_t *
do_truncate(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    static const py_exc_t assertion = { "AssertionError", NULL };
    AUTO(py) dots = py_strz("...");
    AUTO(py) policy = jpolicy(ctx, "truncate.leeway");
    py_t *end = jarg(a[3], dots);
    int64_t length, leeway, end_len = py_len(end);
    if (a[1] != NULL && py_is(a[1], PY_UNDEFINED))
        return py_undef_raise(a[1]);
    py_t *lee = a[4] != NULL && !py_is(a[4], PY_NONE) ? a[4] : py_is(policy, PY_NONE) ? NULL : policy;
    if (end_len < 0 || jindex(a[1], 255, &length) < 0 || jindex(lee, 5, &leeway) < 0)
        return NULL;
    if (length < end_len)
        return py_raise(&assertion, "expected length >= %lld, got %lld", (long long) end_len,
                        (long long) length);
    if (leeway < 0)
        return py_raise(&assertion, "expected leeway >= 0, got %lld", (long long) leeway);
    int64_t have = py_len(a[0]);
    if (have < 0 || have <= length + leeway)
        return have < 0 ? NULL : py_ref(a[0]);
    AUTO(py) stop = py_int(length - end_len);
    AUTO(py) slice = py_slice(NULL, stop, NULL);
    int kill = jflag(a[2], false);
    AUTO(py) head = kill >= 0 ? py_getitem(a[0], slice) : NULL;
    if (head == NULL || kill > 0)
        return head != NULL ? py_add(head, end) : NULL;
    AUTO(py) space = py_strz(" ");
    AUTO(py) one = py_int(1);
    AUTO(py) words = jmethod(head, "rsplit", 2, space, one);
    return words != NULL ? py_add(py_seq_at(words, 0), end) : NULL;
}

/* A newline is added first so that splitlines() keeps a trailing empty line, as Jinja does. */
static py_t *
do_indent(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) s = py_ref(a[0]);
    AUTO(py) four = py_int(4);
    AUTO(py) space = py_strz(" ");
    py_t *width = jarg(a[1], four);
    AUTO(py) pad = py_is(width, PY_STR) ? py_ref(width) : py_binary(PY_MUL, space, width);
    AUTO(py) newline = py_strz("\n");
    int first = jflag(a[2], false), blank = jflag(a[3], false);
    if (pad == NULL || first < 0 || blank < 0)
        return NULL;
    if (py_is_markup(s)) {
        py_t *safe_pad = py_markup(pad), *safe_newline = py_markup(newline);
        py_unref(pad);
        py_unref(newline);
        pad = safe_pad;
        newline = safe_newline;
    }
    /* Jinja's `s += newline` changes a list in place and then fails on its missing method. */
    if (py_is(s, PY_LIST)) {
        py_append(s, newline);
        return jmethod(s, "splitlines", 0);
    }
    if (py_is(s, PY_TUPLE))
        return py_add(s, newline);
    if (!py_is(s, PY_STR) && !py_is(s, PY_UNDEFINED) && !py_is(s, PY_HOST))
        return py_raise(&py_TypeError, "unsupported operand type(s) for +=: '%s' and 'str'", py_type_name(s));
    AUTO(py) text = py_add(s, newline);
    AUTO(py) lines = text != NULL ? jmethod(text, "splitlines", 0) : NULL;
    if (lines == NULL)
        return NULL;
    AUTO(py) indented = py_list();
    for (size_t i = 0; i < py_seq_len(lines); i++) {
        py_t *line = py_seq_at(lines, i);
        bool with = i == 0 ? first : blank || py_len(line) > 0;
        py_t *out = with ? py_add(pad, line) : py_ref(line);
        if (out == NULL)
            return NULL;
        py_append_new(indented, out);
        if (py_tick() < 0)
            return NULL;
    }
    return jmethod(newline, "join", 1, indented);
}

/* Runs of \w. */
static py_t *
do_wordcount(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) s = jsoft_str(a[0]);
    if (s == NULL)
        return NULL;
    size_t len;
    const char *p = py_text(s, &len), *end = p + len;
    int64_t words = 0;
    for (bool inside = false; p < end;) {
        bool word = word_at(&p, end);
        words += word && !inside;
        inside = word;
    }
    return py_int(words);
}

static py_t *
soft_str(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return jsoft_str(a[0]);
}

/* Jinja's units; negative sizes and those below a unit are bytes. */
static py_t *
do_filesizeformat(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    static const char *const prefixes[2][8] = { { "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB" },
                                                { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB" } };
    AUTO(py) number = py_tofloat(a[0]);
    int binary = jflag(a[1], false);
    if (number == NULL || binary < 0)
        return NULL;
    double bytes = py_float_value(number), base = binary ? 1024 : 1000;
    if (bytes == 1)
        return py_strz("1 Byte");
    if (bytes < base) {
        AUTO(py) whole = py_toint(number, -1);
        AUTO(py) text = whole != NULL ? py_tostr(whole) : NULL;
        return text != NULL ? py_strf("%s Bytes", py_cstr(text)) : NULL;
    }
    double unit = base * base;
    size_t i = 0;
    for (; i < 7 && !(bytes < unit); i++)
        unit *= base;
    return py_strf("%.1f %s", base * bytes / unit, prefixes[binary][i]);
}

static const jfilter_t rows[] = {
    { JROW("capitalize", do_capitalize, JP("s"), 1, 1, 0), 0, "First character upper, the others lower." },
    { JROW("center", do_center, JP("value", "width"), 1, 2, 0), JF_MARKS, "Centre in a field of `width`." },
    { JROW("filesizeformat", do_filesizeformat, JP("value", "binary"), 1, 2, 0), 0, "13 kB, 4.1 MB." },
    { JROW("format", do_format, NULL, 1, 1, PY_SIG_STAR | PY_SIG_STARKW), 0, "`value % args`." },
    { JROW("indent", do_indent, JP("s", "width", "first", "blank"), 1, 4, 0), JF_MARKS,
      "Indent all lines but the first." },
    { JROW("lower", do_lower, JP("s"), 1, 1, 0), 0, "To lower case." },
    { JROW("replace", do_replace, JP("eval_ctx", "s", "old", "new", "count"), 4, 5, 0), JF_CONTEXT | JF_MARKS,
      "Replace a part by another, at most `count` times." },
    { JROW("string", soft_str, JP("s"), 1, 1, 0), 0, "To text; what is safe stays safe." },
    { JROW("title", do_title, JP("s"), 1, 1, 0), 0, "Words begin with upper case." },
    { JROW("trim", do_trim, JP("value", "chars"), 1, 2, 0), JF_MARKS, "Without white space at both ends." },
    { JROW("truncate", do_truncate, JP("env", "s", "length", "killwords", "end", "leeway"), 2, 6, 0),
      JF_CONTEXT | JF_MARKS, "Cut behind `length` characters." },
    { JROW("upper", do_upper, JP("s"), 1, 1, 0), 0, "To upper case." },
    { JROW("wordcount", do_wordcount, JP("s"), 1, 1, 0), 0, "Number of words." },
};

const jfilter_table_t jfilters_text = JTABLE(rows);
