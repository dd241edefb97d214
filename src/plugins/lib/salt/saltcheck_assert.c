/* saltcheck_assert.c - see saltcheck_assert.h. The texts are Salt's. */
#include "plugins/lib/salt/saltcheck_assert.h"

#include "common/base/str.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_traverse.h"

/* ---- kinds ------------------------------------------------------------------------------------------ */

/* The values that the text of a failed assertion shows. */
typedef enum shows { SHOWS_BOTH, SHOWS_RETURNED, SHOWS_NONE } shows_t;

enum {
    EXPECTS = 1 << 0, /* the test must have an expected_return */
    CASTS = 1 << 1,   /* which becomes a value of the returned one's type */
    NEGATES = 1 << 2, /* it holds when `holds` does not */
};

typedef struct kind kind_t;
/* 1, 0, or -1 raised. */
typedef int holds_fn(const kind_t *kind, py_t *expected, py_t *returned);
struct kind {
    const char *name, *sign;
    holds_fn *holds;
    py_cmp_t op;
    unsigned flags;
    shows_t shows;
    const char *said;
    const char *hidden; /* the text without values, for print_result: False; NULL: it always shows them */
};

static int
compares_values(const kind_t *kind, py_t *expected, py_t *returned)
{
    return py_compare(expected, returned, kind->op);
}

static int
holds_in(const kind_t *kind, py_t *expected, py_t *returned)
{
    return py_in(expected, returned);
}

static int
returned_true(const kind_t *kind, py_t *expected, py_t *returned)
{
    return returned == PY_True;
}

static int
returned_false(const kind_t *kind, py_t *expected, py_t *returned)
{
    return returned == PY_False;
}

static int
is_something(const kind_t *kind, py_t *expected, py_t *returned)
{
    return py_truth(returned);
}

static const kind_t kinds[] = {
    { "assertEqual", "==", compares_values, PY_EQ, EXPECTS | CASTS, SHOWS_BOTH, " is not equal to ",
      "Result is not equal" },
    { "assertNotEqual", "!=", compares_values, PY_NE, EXPECTS | CASTS, SHOWS_BOTH, " is equal to ",
      "Result is equal" },
    { "assertTrue", "True is", returned_true, PY_EQ, 0, SHOWS_RETURNED, " not True", NULL },
    { "assertFalse", "False is", returned_false, PY_EQ, 0, SHOWS_RETURNED, " not False", NULL },
    { "assertIn", "IN", holds_in, PY_EQ, EXPECTS, SHOWS_BOTH, " not found in ", "Result not found" },
    { "assertNotIn", "NOT IN", holds_in, PY_EQ, EXPECTS | NEGATES, SHOWS_BOTH, " was found in ",
      "Result was found" },
    { "assertGreater", ">", compares_values, PY_GT, EXPECTS | CASTS, SHOWS_RETURNED, " not False", NULL },
    { "assertGreaterEqual", ">=", compares_values, PY_GE, EXPECTS | CASTS, SHOWS_RETURNED, " not False",
      NULL },
    { "assertLess", "<", compares_values, PY_LT, EXPECTS | CASTS, SHOWS_RETURNED, " not False", NULL },
    { "assertLessEqual", "<=", compares_values, PY_LE, EXPECTS | CASTS, SHOWS_RETURNED, " not False", NULL },
    { "assertEmpty", "IS EMPTY", is_something, PY_EQ, NEGATES, SHOWS_RETURNED, " is not empty", NULL },
    { "assertNotEmpty", "IS NOT EMPTY", is_something, PY_EQ, 0, SHOWS_NONE, "value is empty", NULL },
};

/* BORROWED; NULL: there is none of that name. */
static const kind_t *
kind_named(const char *name)
{
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (str_eq(kinds[i].name, name))
            return &kinds[i];
    }
    return NULL;
}

py_t *
saltcheck_expected(py_t *group)
{
    py_t *expected = py_dict_gets(group, "expected_return");

    return expected != NULL ? expected : py_dict_gets(group, "expected-return");
}

char *
saltcheck_objection(py_t *group)
{
    if (!py_is(group, PY_DICT))
        return xasprintf("an assertion is a mapping, and not of the type %s", py_type_name(group));
    py_t *name = py_dict_gets(group, "assertion"), *expected = saltcheck_expected(group);
    if (name == NULL || !py_is(name, PY_STR))
        return xstrdup("it has no assertion");
    const kind_t *kind = kind_named(py_cstr(name));
    if (kind == NULL) {
        buf_auto_t known = BUF_INIT;
        for (size_t i = 0; i < NELEMS(kinds); i++)
            buf_printf(&known, "%s%s", i > 0 ? ", " : "", kinds[i].name);
        return xasprintf("%s is not in the assertions list: %s", py_cstr(name), buf_str(&known));
    }
    if ((kind->flags & EXPECTS) != 0 && (expected == NULL || py_is(expected, PY_NONE)))
        return xasprintf("%s needs a value under expected_return", kind->name);
    return NULL;
}

/* ---- an assertion ----------------------------------------------------------------------------------- */

/* type(returned)(expected). Python's ValueError leaves the value as it is. NEW, or NULL raised. */
static py_t *
cast_like(py_t *expected, py_t *returned)
{
    py_t *made = NULL;

    switch (py_type(returned)) {
    case PY_BOOL: {
        int truth = py_str_is(expected, "False") ? 0 : py_truth(expected);
        return truth >= 0 ? py_bool(truth > 0) : NULL;
    }
    case PY_INT:
        made = py_toint(expected, -1);
        break;
    case PY_FLOAT:
        made = py_tofloat(expected);
        break;
    case PY_STR:
        made = py_tostr(expected);
        break;
    case PY_LIST:
        made = py_tolist(expected);
        break;
    case PY_TUPLE:
        made = py_totuple(expected);
        break;
    case PY_SET:
        made = py_toset(expected, false);
        break;
    case PY_DICT:
        made = py_todict(expected);
        if (made != NULL && py_is_odict(returned)) {
            AUTO(py) plain = made;
            made = py_odict();
            (void) py_dict_update(made, plain);
        }
        break;
    default:
        return py_ref(expected);
    }
    if (made != NULL || !py_raised_is(&py_ValueError))
        return made;
    py_clear();
    return py_ref(expected);
}

/* "Pass", or "Fail: " and why. 0, or -1 raised. */
static int
put_status(buf_t *out, const kind_t *kind, py_t *expected, py_t *returned, bool print)
{
    int holds = kind->holds(kind, expected, returned);
    int rc = holds < 0 ? -1 : 0;

    if (rc == 0 && (holds != 0) == ((kind->flags & NEGATES) == 0)) {
        buf_puts(out, "Pass");
        return 0;
    }
    buf_puts(out, "Fail: ");
    if (!print && kind->hidden != NULL) {
        buf_puts(out, kind->hidden);
        return rc;
    }
    if (rc == 0 && kind->shows == SHOWS_BOTH)
        rc = py_str_to(out, expected);
    if (rc == 0 && kind->shows == SHOWS_RETURNED)
        rc = py_str_to(out, returned);
    buf_puts(out, kind->said);
    return rc == 0 && kind->shows == SHOWS_BOTH ? py_str_to(out, returned) : rc;
}

/* The status as a str; an exception is a failure of the test. NEW. */
static py_t *
assertion_status(const kind_t *kind, py_t *expected, py_t *returned, bool print)
{
    buf_auto_t text = BUF_INIT;
    bool converts = kind->holds == returned_false && py_is(returned, PY_STR);
    AUTO(py) truth = converts ? py_bool(py_truth(returned) > 0) : NULL;

    if (put_status(&text, kind, expected, converts ? truth : returned, print) == 0)
        return py_str_buf(&text);
    py_t *why = py_strf("Fail: %s", py_raised_text());
    py_clear();
    return why;
}

/* output_details: the call, and what was compared. 0, or -1 raised. */
static int
put_details(py_t *result, const saltcheck_call_t *call, const kind_t *kind, py_t *section, py_t *expected,
            py_t *returned)
{
    py_dumps_t how = PY_DUMPS_INIT;
    buf_auto_t called = BUF_INIT, compared = BUF_INIT;

    how.ensure_ascii = false;
    AUTO(py) args = py_json_dumps(call->args != NULL ? call->args : PY_None, &how);
    if (args == NULL)
        return -1;
    buf_printf(&called, "%s %s", call->fun, py_cstr(args));
    if (section != NULL) {
        buf_putc(&called, ' ');
        if (py_str_to(&called, section) < 0)
            return -1;
    }
    if (!py_is(expected, PY_NONE)) {
        if (py_str_to(&compared, expected) < 0)
            return -1;
        buf_putc(&compared, ' ');
    }
    buf_printf(&compared, "%s ", kind->sign);
    if (!call->print)
        buf_puts(&compared, "hidden");
    else if (py_str_to(&compared, returned) < 0)
        return -1;
    py_dict_sets_new(result,
                     section != NULL ? "module.function [args] assertion_section" : "module.function [args]",
                     py_str_buf(&called));
    py_dict_sets_new(result, "saltcheck assertion", py_str_buf(&compared));
    return 0;
}

/* The part of the return that assertion_section names, False where there is none. NEW, or NULL raised. */
static py_t *
section_of(py_t *returned, py_t *section, py_t *group)
{
    py_t *delimiter = py_dict_gets(group, "assertion_section_delimiter");
    bool given = delimiter != NULL && py_is(delimiter, PY_STR) && *py_cstr(delimiter) != '\0';
    py_t *part = py_traverse(returned, section, given ? py_cstr(delimiter) : ":");

    return part != NULL || py_raised() != NULL ? part : py_ref(PY_False);
}

py_t *
saltcheck_assert(const saltcheck_call_t *call, py_t *group, const char *name)
{
    py_t *section = py_dict_gets(group, "assertion_section"), *own = py_dict_gets(group, "assertion");
    py_t *given = saltcheck_expected(group), *result = py_dict();
    const kind_t *kind = kind_named(name != NULL ? name : own != NULL ? py_cstr(own) : NULL);
    bool parts = section != NULL && py_truth(section) > 0;
    AUTO(py) returned = parts ? section_of(call->returned, section, group) : py_ref(call->returned);
    AUTO(py) expected = py_ref(given != NULL ? given : PY_None);

    if (kind == NULL) {
        py_dict_sets_new(result, "status", py_strz("Fail - bad assertion"));
        return result;
    }
    if (returned != NULL && (kind->flags & CASTS) != 0) {
        py_t *cast = cast_like(expected, returned);
        py_unref(expected);
        expected = cast;
    }
    if (returned != NULL && expected != NULL) {
        py_dict_sets_new(result, "status", assertion_status(kind, expected, returned, call->print));
        if (call->details)
            (void) put_details(result, call, kind, parts ? section : NULL, expected, returned);
    } else {
        py_dict_sets_new(result, "status", py_strf("Fail: %s", py_raised_text()));
    }
    py_clear();
    return result;
}
