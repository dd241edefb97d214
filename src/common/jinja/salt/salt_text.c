/* salt_text.c - Salt's filters over texts: numbers, units, lists of expressions, case, quoting, paths. */
#include "common/base/base64.h"
#include "common/base/pyrandom.h"
#include "common/base/str.h"
#include "common/jinja/salt/salt_filter.h"
#include "common/match/match.h"
#include "common/match/regex.h"

JFILTER(to_bytes)
{
    if (py_is(a[0], PY_BYTES))
        return py_ref(a[0]);
    if (!py_is(a[0], PY_STR))
        return py_raise(&py_TypeError, "expected str, bytes, or bytearray not <class '%s'>",
                        py_type_name(a[0]));
    AUTO(py) utf8 = py_strz("utf-8");
    AUTO(py) strict = py_strz("strict");
    py_t *encoding = a[1] != NULL && py_is(a[1], PY_STR) ? a[1] : utf8;
    return jmethod(a[0], "encode", 2, encoding, jarg(a[2], strict));
}

/* int(v), else float(v), else `dflt`. NEW. */
static py_t *
number_or(py_t *v, py_t *dflt)
{
    py_t *n = py_toint(v, -1);
    if (n == NULL && py_raised_is(&py_ValueError)) {
        py_clear();
        n = py_tofloat(v);
    }
    if (n == NULL && py_raised_is(&py_ValueError)) {
        py_clear();
        n = py_ref(dflt);
    }
    return n;
}

py_t *
jto_num(py_t *text)
{
    return number_or(text, text);
}

JFILTER(to_num)
{
    return jto_num(a[0]);
}

/* True if int(text, 16) would accept it. */
JFILTER(is_hex)
{
    py_t *n = py_is(a[0], PY_STR) || py_is(a[0], PY_BYTES) ? py_toint(a[0], 16) : NULL;
    if (n == NULL && py_raised_is(&py_LimitError))
        return NULL;
    py_clear();
    py_unref(n);
    return py_bool(n != NULL);
}

/* Asks each character for isspace(). */
JFILTER(contains_whitespace)
{
    AUTO(py) list = py_tolist(a[0]);
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        AUTO(py) space = jmethod(py_seq_at(list, i), "isspace", 0);
        if (space == NULL || space == PY_True)
            return py_ref(space);
    }
    return list != NULL ? py_ref(PY_False) : NULL;
}

/* Power of a unit letter, and whether it is decimal ("MB" with `metric`); false for an unknown unit. */
static bool
unit_power(const char *unit, bool metric, int *ret_power, bool *ret_decimal)
{
    static const char letters[] = "bkmgtpezy";
    const char *at = unit[0] != '\0' ? strchr(letters, unit[0]) : NULL;
    if (at == NULL)
        return false;
    *ret_power = (int) (at - letters);
    *ret_decimal = *ret_power > 0 && strcmp(unit + 1, "b") == 0 && metric;
    return unit[1] == '\0' || (*ret_power > 0 && (strcmp(unit + 1, "b") == 0 || strcmp(unit + 1, "ib") == 0));
}

/* "10 MB" and the like; powers of 1024, or of 1000 if metric. */
JFILTER(human_to_bytes)
{
    AUTO(py) shown = py_tostr(a[0]);
    AUTO(py) text = shown != NULL ? jmethod(shown, "strip", 0) : NULL;
    int metric = jflag(a[2], false);
    if (text == NULL || metric < 0)
        return NULL;
    const char *s = py_cstr(text);
    size_t digits = strspn(s, "0123456789."), at = digits;
    for (size_t n; (n = space_at(s + at, s + strlen(s))) > 0;)
        at += n;
    AUTO(py) zero = py_int(0);
    AUTO(py) number = py_str(s, digits);
    AUTO(py) value = number_or(number, zero);
    AUTO(py) given = py_strz(s[at] != '\0' ? s + at : a[1] != NULL ? py_cstr(a[1]) : "b");
    AUTO(py) unit = jmethod(given, "lower", 0);
    int power;
    bool decimal;
    if (value == NULL || unit == NULL)
        return NULL;
    if (!unit_power(py_cstr(unit), metric, &power, &decimal))
        return py_int(0);
    AUTO(py) base = py_int(decimal ? 1000 : 1024);
    AUTO(py) exponent = py_int(power);
    AUTO(py) scale = py_binary(PY_POW, base, exponent);
    AUTO(py) bytes = scale != NULL ? py_binary(PY_MUL, value, scale) : NULL;
    return bytes != NULL ? py_toint(bytes, -1) : NULL;
}

/* ---- white and black lists ---------------------------------------------------------------------------- */

/* A glob, or a regular expression for the whole text. 1, 0, or -1 raised. */
static int
expression_matches(py_t *value, py_t *expr)
{
    if (!py_is(value, PY_STR) || !py_is(expr, PY_STR))
        return 0;
    if (jregex_room(py_cstr(expr)) < 0)
        return -1;
    return match_glob(py_cstr(expr), py_cstr(value)) ? 1 : jregex_fullmatch(py_cstr(expr), value);
}

/* 1 when an expression of the list matches, 0, or -1 raised; *ret_any: there is a list at all. */
static int
salt_text_list_matches(py_t *value, py_t *list, const char *name, bool *ret_any)
{
    *ret_any = false;
    int truth = jflag(list, false);
    if (truth <= 0)
        return truth;
    *ret_any = true;
    if (py_is(list, PY_STR))
        return expression_matches(value, list);
    if (!py_iterable(list)) {
        AUTO(py) shown = py_tostr(list);
        return py_raise_int(&py_TypeError, "Expecting iterable %s, but got %s (%s)", name, py_type_name(list),
                            py_cstr(shown));
    }
    AUTO(py) all = py_tolist(list);
    int rc = all != NULL ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < py_seq_len(all); i++)
        rc = expression_matches(value, py_seq_at(all, i));
    return rc;
}

/* salt.utils.stringutils.check_whitelist_blacklist: a value must be in the whitelist, if any, and not in the
 * blacklist. */
JFILTER(check_whitelist_blacklist)
{
    bool black, white;
    int in_black = salt_text_list_matches(a[0], a[2], "blacklist", &black);
    int in_white = in_black >= 0 ? salt_text_list_matches(a[0], a[1], "whitelist", &white) : -1;
    if (in_white < 0)
        return NULL;
    if (black && !white)
        return py_bool(!in_black);
    if (white && !black)
        return py_bool(in_white);
    return py_bool(!black || (!in_black && in_white));
}

/* ---- case --------------------------------------------------------------------------------------------- */

static bool
char_is(py_t *list, size_t i, const char *method)
{
    AUTO(py) v = i < py_seq_len(list) ? jmethod(py_seq_at(list, i), method, 0) : NULL;
    return v == PY_True;
}

/* "_" before an upper case letter that follows or precedes a lower case one. */
JFILTER(camel_to_snake_case)
{
    AUTO(py) chars = py_tolist(a[0]);
    if (chars == NULL)
        return NULL;
    if (py_seq_len(chars) == 0)
        return py_raise(&py_IndexError, "string index out of range");
    AUTO(py) out = py_list();
    for (size_t i = 0; i < py_seq_len(chars); i++) {
        bool upper = i > 0 && char_is(chars, i, "isupper");
        if (upper && (char_is(chars, i - 1, "islower") || char_is(chars, i + 1, "islower")))
            py_append_new(out, py_strz("_"));
        py_t *lower = jmethod(py_seq_at(chars, i), "lower", 0);
        if (lower == NULL)
            return NULL;
        py_append_new(out, lower);
    }
    AUTO(py) empty = py_str("", 0);
    return jmethod(empty, "join", 1, out);
}

/* The first word keeps its case unless `upper`. */
JFILTER(snake_to_camel_case)
{
    AUTO(py) bar = py_strz("_");
    AUTO(py) words = jmethod(a[0], "split", 1, bar);
    int upper = jflag(a[1], false);
    if (words == NULL || upper < 0)
        return NULL;
    AUTO(py) out = py_list();
    for (size_t i = 0; i < py_seq_len(words); i++) {
        py_t *word = py_seq_at(words, i);
        AUTO(py) part = i > 0 || upper ? jmethod(word, "capitalize", 0) : py_ref(word);
        if (part == NULL) /* a limit of the render */
            return NULL;
        py_append(out, part);
    }
    AUTO(py) empty = py_str("", 0);
    return jmethod(empty, "join", 1, out);
}

/* ---- quoting ------------------------------------------------------------------------------------------ */

/* shlex.quote. A quoted peer's value is marked as safe within a shell command. */
JFILTER(quote)
{
    int any = py_truth(a[0]);
    if (any <= 0)
        return any < 0 ? NULL : py_strz("''");
    if (!py_is(a[0], PY_STR))
        return py_raise(&py_TypeError, "expected string or bytes-like object, got '%s'", py_type_name(a[0]));
    char *text AUTO_FREE = str_shell_quote(py_cstr(a[0]));
    py_t *quoted = py_strz(text);
    return py_is_peer(a[0]) ? py_peer(quoted, SPAN_QUOTED | py_peer_flags(a[0])) : quoted;
}

/* ---- paths -------------------------------------------------------------------------------------------- */

JFILTER(path_join)
{
    AUTO(py) path = NULL;
    for (size_t i = 0; i < args->n; i++) {
        py_t *part = args->v[i];
        if (!py_is(part, PY_STR))
            return py_raise(&py_TypeError, "expected str, bytes, or bytearray not <class '%s'>",
                            py_type_name(part));
        const char *text = py_cstr(part);
        while (i > 0 && *text == '/')
            text++;
        const char *before = path != NULL ? py_cstr(path) : "";
        bool slash = path != NULL && before[0] != '\0' && !str_ends(before, "/");
        if (py_room(3 * (strlen(before) + strlen(text))) < 0)
            return NULL;
        py_t *joined = py_strf("%s%s%s", before, slash ? "/" : "", text);
        py_unref(path);
        path = joined;
    }
    if (py_room(2 * strlen(py_cstr(path))) < 0)
        return NULL;
    char *normal AUTO_FREE = jnormal_path(py_cstr(path));
    return py_strz(normal);
}

JFILTER(random_str)
{
    int64_t size;
    if (jindex(a[0], 32, &size) < 0)
        return NULL;
    if (size < 0 || size > 1024 * 1024)
        return py_raise(&py_ValueError, "random_str makes 0 to 1048576 characters");
    if (py_room((size_t) size * 4) < 0)
        return NULL;
    AUTO(pyrandom) random = pyrandom_new(NULL, NULL);
    char *bytes AUTO_FREE = xcalloc((size_t) size + 1, 1);
    for (int64_t i = 0; i < size; i++)
        bytes[i] = (char) pyrandom_below(random, 256);
    char *text AUTO_FREE = base64_encode(bytes, (size_t) size, 0);
    return py_str(text, (size_t) size);
}

static const jfilter_t rows[] = {
    { JROW("check_whitelist_blacklist", check_whitelist_blacklist, JP("value", "whitelist", "blacklist"), 1,
           3, 0),
      0, "Whether lists of expressions let it through." },
    { JROW("contains_whitespace", contains_whitespace, JP("text"), 1, 1, 0), 0,
      "Whether there is white space." },
    { JROW("human_to_bytes", human_to_bytes, JP("size", "default_unit", "handle_metric"), 1, 3, 0), 0,
      "2G as a number of bytes." },
    { JROW("is_hex", is_hex, JP("value"), 1, 1, 0), 0, "Whether it is a hexadecimal number." },
    { JROW("path_join", path_join, NULL, 0, 0, PY_SIG_STAR | PY_SIG_STARKW), 0, "Parts of a path as one." },
    { JROW("quote", quote, JP("txt"), 1, 1, 0), 0, "Quoted for a shell." },
    { JROW("random_str", random_str, JP("size"), 0, 1, 0), JF_WORLD, "Random characters." },
    { JROW("str_to_num", to_num, JP("text"), 1, 1, 0), 0, "A number when it is one." },
    { JROW("to_bytes", to_bytes, JP("s", "encoding", "errors"), 1, 3, 0), 0, "Text as bytes." },
    { JROW("to_camelcase", snake_to_camel_case, JP("snake_input", "uppercamel"), 1, 2, 0), 0, "camelCase." },
    { JROW("to_num", to_num, JP("text"), 1, 1, 0), 0, "A number when it is one." },
    { JROW("to_snake_case", camel_to_snake_case, JP("camel_input"), 1, 1, 0), 0, "snake_case." },
};

const jfilter_table_t jfilters_salt_text = JTABLE(rows);
