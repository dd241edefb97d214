/* salt_serial.c - Salt's filters between data and text: yaml, json, load_*, tojson, yaml_dquote and
 * relatives.
 *
 * Texts that are loaded may contain peers' values printed before; load_fits refuses them where they would
 * become structure. Errors in YAML of an imported template name that template's line. */
#include "common/base/json_span.h"
#include "common/base/str.h"
#include "common/data/yaml_span.h"
#include "common/jinja/jinja_salt.h"
#include "common/jinja/salt/salt_filter.h"
#include "common/jinja/yamlquote.h"
#include "common/py/py_json.h"
#include "common/py/py_obj.h"
#include "common/py/py_yaml.h"

/* ---- dumping ------------------------------------------------------------------------------------------ */

/* The stripped text as Markup. TAKES `text`. */
static py_t *
salt_serial_stripped(py_t *text)
{
    AUTO(py) own = text;
    AUTO(py) bare = own != NULL ? jmethod(own, "strip", 0) : NULL;
    return bare != NULL ? py_markup(bare) : NULL;
}

/* yaml.safe_dump with Salt's flow styles; the "..." after a scalar is cut. */
static py_t *
dump_yaml(py_t *value, py_t *flow)
{
    if (flow != NULL && py_is(flow, PY_NONE))
        return salt_serial_stripped(py_yaml_dump(value, PY_YAML_AUTO, NULL));
    int truth = jflag(flow, true);
    if (truth < 0)
        return NULL;
    AUTO(py) text = salt_serial_stripped(py_yaml_dump(value, truth > 0 ? PY_YAML_FLOW : PY_YAML_BLOCK, NULL));
    if (text == NULL || !str_ends(py_cstr(text), "\n..."))
        return STEAL(text);
    AUTO(py) cut = py_part(text, py_cstr(text), strlen(py_cstr(text)) - 4);
    return py_markup(cut);
}

static py_t *
format_yaml(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return dump_yaml(a[0], a[1]);
}

static py_t *
dict_to_sls_yaml_params(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) items = jmethod(a[0], "items", 0);
    AUTO(py) pairs = items != NULL ? py_tolist(items) : NULL;
    AUTO(py) list = py_list();
    if (pairs == NULL)
        return NULL;
    for (size_t i = 0; i < py_seq_len(pairs); i++) {
        py_t *one = py_dict();
        py_append_new(list, one);
        py_t *pair = py_seq_at(pairs, i);
        if (py_dict_set(one, py_seq_at(pair, 0), py_seq_at(pair, 1)) < 0)
            return NULL;
    }
    return dump_yaml(list, jarg(a[1], PY_False));
}

/* Reads json.dumps' options; others raise Python's TypeError. */
static int
salt_serial_read_options(const py_args_t *args, py_dumps_t *how)
{
    for (size_t i = 0; i < args->nkw; i++) {
        py_t *name = args->names[i], *v = args->kwv[i];
        int64_t n = -1;
        int truth = py_str_is(name, "sort_keys") || py_str_is(name, "ensure_ascii") ? py_truth(v) : 0;
        if (truth < 0 || (py_str_is(name, "indent") && !py_is(v, PY_NONE) && jindex(v, -1, &n) < 0))
            return -1;
        if (py_str_is(name, "sort_keys"))
            how->sort_keys = truth;
        else if (py_str_is(name, "ensure_ascii"))
            how->ensure_ascii = truth;
        else if (py_str_is(name, "indent"))
            how->indent = (int) n;
        else if (py_str_is(name, "separators") && py_is(v, PY_TUPLE) && py_seq_len(v) == 2)
            how->item_sep = py_cstr(py_seq_at(v, 0)), how->key_sep = py_cstr(py_seq_at(v, 1));
        else if (!py_str_is(name, "value") && !py_str_is(name, "val"))
            return py_raise_int(&py_TypeError,
                                "JSONEncoder.__init__() got an unexpected keyword argument '%s'",
                                py_cstr(name));
    }
    return 0;
}

static py_t *
format_json(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    py_dumps_t how = PY_DUMPS_INIT;
    int sorted = jflag(a[1], true);
    int64_t indent = -1;
    if (sorted < 0 || (a[2] != NULL && !py_is(a[2], PY_NONE) && jindex(a[2], -1, &indent) < 0))
        return NULL;
    how.sort_keys = sorted;
    how.indent = (int) indent;
    how.ensure_ascii = false;
    return salt_serial_stripped(py_json_dumps(a[0], &how));
}

static py_t *
tojson(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    py_dumps_t how = PY_DUMPS_INIT;
    int64_t indent = -1;
    if (salt_serial_read_options(args, &how) < 0)
        return NULL;
    if (a[1] != NULL && !py_is(a[1], PY_NONE)) {
        if (jindex(a[1], -1, &indent) < 0)
            return NULL;
        how.indent = (int) indent;
    }
    AUTO(py) json = py_json_dumps(a[0], &how);
    py_t *safe = json != NULL ? jhtmlsafe_json(json) : NULL;
    for (size_t i = 0; safe != NULL && i < args->nkw; i++) /* separators */
        safe = py_holds_peer(args->kwv[i]) ? py_peer(safe, 0) : safe;
    return safe;
}

/* ---- one scalar --------------------------------------------------------------------------------------- */

/* Text in single quotes as YAML's emitter writes it on a line of unlimited width: a line break is doubled. */
static void
single_quoted(buf_t *out, const char *s, size_t len)
{
    buf_putc(out, '\'');
    for (size_t i = 0; i < len; i++) {
        bool breaks = s[i] == '\n' && (i == 0 || s[i - 1] != '\n');
        if (breaks)
            buf_putc(out, '\n');
        if (s[i] == '\'')
            buf_putc(out, '\'');
        buf_putc(out, s[i]);
    }
    buf_putc(out, '\'');
}

/* Quotes str(v); the content keeps the text's marks, the quotes have none. */
static py_t *
salt_serial_quoted(py_t *v, void (*write)(buf_t *out, const char *s, size_t len))
{
    AUTO(py) text = py_tostr(v);
    if (text == NULL)
        return NULL;
    buf_auto_t b = BUF_INIT;
    size_t len;
    const char *s = py_text(text, &len);
    write(&b, s, len);
    const char quote = b.data[--b.len];
    py_put_like(&b, 1, text);
    buf_putc(&b, quote);
    return py_str_buf(&b);
}

JFILTER(yaml_dquote)
{
    return salt_serial_quoted(a[0], yaml_quote_ascii);
}

JFILTER(yaml_squote)
{
    return salt_serial_quoted(a[0], single_quoted);
}

JFILTER(yaml_encode)
{
    if (py_is(a[0], PY_LIST) || py_is(a[0], PY_TUPLE) || py_is(a[0], PY_DICT) || py_is(a[0], PY_SET))
        return py_raise(&py_TypeError,
                        "yaml_encode() only works with YAML scalar data; failed for <class '%s'>",
                        py_is_odict(a[0]) ? "collections.OrderedDict" : py_type_name(a[0]));
    if (py_is(a[0], PY_STR))
        return salt_serial_quoted(a[0], yaml_quote_ascii);
    AUTO(py) text = py_yaml_dump(a[0], PY_YAML_BLOCK, NULL);
    AUTO(py) bare = text != NULL ? jmethod(text, "strip", 0) : NULL;
    if (bare == NULL || !str_ends(py_cstr(bare), "\n..."))
        return STEAL(bare);
    return py_part(bare, py_cstr(bare), strlen(py_cstr(bare)) - 4);
}

/* ---- loading ------------------------------------------------------------------------------------------ */

/* Raises for bad YAML: with the line in the imported template when its text is verbatim, else with the lines
 * around. */
static void
raise_yaml(jcontext_t *ctx, py_t *v, const yproblem_t *problem, const char *text, size_t len)
{
    const jtemplate_t *t = ctx->session != NULL ? jmodule_verbatim(ctx->session, v) : NULL;
    if (t != NULL && problem->at.line >= 0) {
        jtrace_add(ctx->session, t, problem->at.line + 1);
        py_raise(&jinja_TemplateRuntimeError, "Encountered error loading yaml: %s", problem->text);
        return;
    }
    char *around AUTO_FREE = jinja_salt_around(text, len, problem->at.line + 1);
    py_raise(&jinja_TemplateRuntimeError, "Encountered error loading yaml: %s\n%s", problem->text, around);
}

/* Checks that peers' values in a text that is loaded stay values. A text that is a peer's as a whole may have
 * any structure. 0, or -1 raised. */
static int
load_fits(jcontext_t *ctx, const py_t *text,
          bool (*fit)(const char *text, size_t len, const spans_t *spans, breakout_t *ret))
{
    spans_auto_t spans = SPANS_INIT;
    breakout_t b;

    if (!py_is_peer(text) || ctx->session == NULL || ctx->session->engine->options.peer_lenient)
        return 0;
    py_peer_spans(text, &spans);
    bool all = spans.n == 1 && spans.v[0].from == 0 && spans.v[0].to == PY_LEN(text);
    for (size_t i = 0; i < spans.n; i++)
        spans.v[i].flags |= SPAN_TEXT;
    if (all || fit(PY_TEXT(text), PY_LEN(text), &spans, &b))
        return 0;
    const span_t *s = &spans.v[b.span];
    AUTO(py) value = py_str(PY_TEXT(text) + s->from, s->to - s->from);
    AUTO(py) shown = py_repr(value);
    return py_raise_int(
        &jinja_TemplateRuntimeError,
        "A value that a peer said is not only a value here: %s becomes %s. Print it so that it stays "
        "one: {{ ... | json }} or {{ ... | yaml_dquote }}",
        py_cstr(shown), b.what);
}

/* Loads YAML from a text or an imported template. The result is marked when the text is a peer's. */
static py_t *
load_yaml(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) text = jmodule_text(a[0]);
    if (!py_is(text, PY_STR) && !py_is(text, PY_BYTES))
        return py_is(text, PY_UNDEFINED) ? py_undef_raise(text)
                                         : py_raise(&py_TypeError, "a string or stream input is required");
    size_t len;
    const char *s = py_text(text, &len);
    yproblem_t problem = YPROBLEM_INIT;
    if (load_fits(ctx, text, yaml_spans_fit) < 0)
        return NULL;
    py_t *v = py_yaml_load(s, len, false, &problem);
    if (v == NULL && py_raised() == NULL)
        raise_yaml(ctx, a[0], &problem, s, len);
    yproblem_free(&problem);
    return py_peer_like(v, &text, 1); /* an imported file is a module, and its text has the marks */
}

/* Loads JSON; any failure gives Salt's single message. */
static py_t *
load_json(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) text = jmodule_text(a[0]);
    size_t len;
    const char *s = py_is(text, PY_STR) || py_is(text, PY_BYTES) ? py_text(text, &len) : NULL;
    if (s != NULL && load_fits(ctx, text, json_spans_fit) < 0)
        return NULL;
    py_t *v = s != NULL ? py_json_loads(s, len) : NULL;
    if (v != NULL)
        return py_peer_like(v, &text, 1);
    py_clear();
    AUTO(py) shown = py_tostr(text);
    return shown != NULL
               ? py_raise(&jinja_TemplateRuntimeError, "Unable to load json from %s", py_cstr(shown))
               : NULL;
}

static py_t *
load_text(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return jmodule_text(a[0]);
}

static const jfilter_t rows[] = {
    { JROW("dict_to_sls_yaml_params", dict_to_sls_yaml_params, JP("value", "flow_style"), 1, 2, 0), 0,
      "A dict as the parameters of a state." },
    { JROW("json", format_json, JP("value", "sort_keys", "indent"), 1, 3, 0), 0, "JSON, keys in order." },
    { JROW("load_json", load_json, JP("value"), 1, 1, 0), 0, "Data from JSON." },
    { JROW("load_text", load_text, JP("value"), 1, 1, 0), 0, "Text of a template." },
    { JROW("load_yaml", load_yaml, JP("value"), 1, 1, 0), 0, "Data from YAML." },
    { JROW("tojson", tojson, JP("val", "indent"), 1, 2, PY_SIG_STARKW), JF_UNDEFINED,
      "JSON that is safe in HTML." },
    { JROW("yaml_dquote", yaml_dquote, JP("text"), 1, 1, 0), 0, "In double quotes for YAML." },
    { JROW("yaml_encode", yaml_encode, JP("data"), 1, 1, 0), 0, "One value as YAML." },
    { JROW("yaml_squote", yaml_squote, JP("text"), 1, 1, 0), 0, "In single quotes for YAML." },
    { JROW("yaml", format_yaml, JP("value", "flow_style"), 1, 2, 0), JF_UNDEFINED,
      "YAML on one line, or in lines." },
};

const jfilter_table_t jfilters_salt_serial = JTABLE(rows);
