/* serializers.c - see serializers.h: json, yaml, python, plist, toml, configparser and keyvalue, as Salt's
 * serialisers write and read them. */
#include "plugins/lib/call/serializers.h"

#include <limits.h>

#include "common/base/str.h"
#include "common/data/yaml_write.h"
#include "common/jinja/jinja_salt.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_yaml.h"
#include "plugins/lib/call/ini_read.h"
#include "plugins/lib/call/plist.h"
#include "plugins/lib/call/toml.h"

enum { INDENT_MAX = 999 };

/* A None counts as not given. BORROWED. */
static py_t *
option(py_t *options, const char *name)
{
    py_t *v = py_dict_gets(options, name);

    return v != NULL && !py_is(v, PY_NONE) ? v : NULL;
}

static bool
option_flag(py_t *options, const char *name, bool dflt)
{
    py_t *v = py_dict_gets(options, name);

    return v != NULL ? py_truth(v) > 0 : dflt;
}

/* From `least` to `most`, else the default. */
static int
option_int(py_t *options, const char *name, int least, int most, int dflt)
{
    py_t *v = option(options, name);
    int64_t n;

    return v != NULL && py_to_int64(v, &n) && n >= least && n <= most ? (int) n : dflt;
}

/* Raises TypeError for other types. BORROWED. */
static py_t *
serializers_text_of(py_t *v)
{
    if (!py_is(v, PY_STR) && !py_is(v, PY_BYTES))
        return py_raise(&py_TypeError, "a text is needed, not %s", py_type_name(v));
    return v;
}

/* ---- json --------------------------------------------------------------------------------------------- */

static py_t *
json_serialize(py_t *v, py_t *options)
{
    py_t *separators = option(options, "separators");
    py_dumps_t how = PY_DUMPS_INIT;

    how.indent = option_int(options, "indent", 0, INDENT_MAX, -1);
    how.sort_keys = option_flag(options, "sort_keys", false);
    how.ensure_ascii = option_flag(options, "ensure_ascii", false);
    if (separators != NULL && (py_is(separators, PY_LIST) || py_is(separators, PY_TUPLE)) &&
        py_seq_len(separators) == 2) {
        how.item_sep = py_cstr(py_seq_at(separators, 0));
        how.key_sep = py_cstr(py_seq_at(separators, 1));
    }
    return py_json_dumps(v, &how);
}

static py_t *
json_deserialize(py_t *v, py_t *options)
{
    size_t len;

    if (serializers_text_of(v) == NULL)
        return NULL;
    const char *text = py_text(v, &len);
    return py_json_loads(text, len);
}

/* ---- yaml --------------------------------------------------------------------------------------------- */

static py_t *serializers_plain(py_t *v, bool sorted);

/* All mappings of one kind, as this serializer writes them: sorted unless it was told otherwise. NEW. A
 * document that goes too deep is Python's RecursionError, by py_enter(). */
static py_t *
serializers_plain(py_t *v, bool sorted)
{
    if (!py_is(v, PY_LIST) && !py_is(v, PY_TUPLE) && !py_is(v, PY_DICT))
        return py_ref(v);
    if (py_enter() < 0)
        return NULL;
    bool dict = py_is(v, PY_DICT), ok = true;
    AUTO(py) out = !dict ? py_list() : sorted ? py_dict() : py_odict();
    py_t *key, *value;
    for (size_t i = 0; ok && !dict && i < py_seq_len(v); i++) {
        py_t *item = serializers_plain(py_seq_at(v, i), sorted);
        ok = item != NULL;
        if (ok)
            py_append_new(out, item);
    }
    for (size_t i = 0; ok && dict && py_dict_next(v, &i, &key, &value);) {
        AUTO(py) copy = serializers_plain(value, sorted);
        ok = copy != NULL && py_dict_set(out, key, copy) == 0;
    }
    py_leave();
    return ok ? STEAL(out) : NULL;
}

/* The end of a document and the last line feed are cut, as Salt does. */
static py_t *
yaml_serialize(py_t *v, py_t *options)
{
    py_t *flow = option(options, "default_flow_style");
    py_yaml_flow_t style = flow == NULL ? PY_YAML_AUTO : py_truth(flow) > 0 ? PY_YAML_FLOW : PY_YAML_BLOCK;
    AUTO(py) copy = serializers_plain(v, option_flag(options, "sort_keys", true));
    const yaml_layout_t layout = { .indent = option_int(options, "indent", 0, INDENT_MAX, 0),
                                   .width = option_int(options, "width", -1, INT_MAX, 0),
                                   .start = option_flag(options, "explicit_start", false) };
    AUTO(py) text = copy != NULL ? py_yaml_dump(copy, style, &layout) : NULL;
    size_t len;

    if (text == NULL)
        return NULL;
    const char *bytes = py_text(text, &len);
    static const char end[] = "\n...\n";
    if (len >= strlen(end) && memcmp(bytes + len - strlen(end), end, strlen(end)) == 0)
        return py_part(text, bytes, len - strlen(end));
    return py_part(text, bytes, len > 0 && bytes[len - 1] == '\n' ? len - 1 : len);
}

/* By a loader that makes nothing but plain values, whatever tags stand there. NEW, or NULL raised. */
static py_t *
yaml_deserialize(py_t *v, py_t *options)
{
    yproblem_t problem = YPROBLEM_INIT;
    size_t len;

    if (serializers_text_of(v) == NULL)
        return NULL;
    const char *text = py_text(v, &len);
    py_t *loaded = py_yaml_load_safe(text, len, &problem);
    if (loaded == NULL) {
        AUTO_FREE char *shown = yproblem_show(&problem, "<unicode string>", text, len);
        py_raise(&py_ValueError, "%s", shown);
    } else if (py_json_fits(loaded) < 0) { /* it is merged and compared, which follows all aliases */
        py_destroy(&loaded);
    }
    yproblem_free(&problem);
    return loaded;
}

/* ---- python ------------------------------------------------------------------------------------------- */

/* pprint.pformat of what JSON keeps of it: the template filter of the same name. */
static py_t *
python_serialize(py_t *v, py_t *options)
{
    static const char filter[] = "v|python";
    const jinja_source_t source = { .text = filter, .len = strlen(filter) };
    const jinja_options_t with_salt = { .salt = true };
    jinja_error_t e = JINJA_ERROR_INIT;
    json_auto_t *json = py_to_json(v);
    AUTO(py) context = py_dict();

    if (json == NULL)
        return NULL;
    py_dict_sets_new(context, "v", py_from_json(json));
    jinja_t *engine = jinja_new(&with_salt, NULL);
    py_t *text = jinja_evaluate(engine, &source, context, NULL, &e);
    if (text == NULL)
        py_raise(&py_ValueError, "%s", e.message);
    jinja_error_free(&e);
    jinja_destroy(&engine);
    return text;
}

/* ---- plist -------------------------------------------------------------------------------------------- */

/* XML unless the option says binary, as in Salt. */
static py_t *
plist_serialize(py_t *v, py_t *options)
{
    const plist_options_t how = { .unsorted = !option_flag(options, "sort_keys", true),
                                  .skip_keys = option_flag(options, "skipkeys", false) };
    py_t *form = option(options, "fmt");

    if (form == NULL)
        return plist_write_xml(v, &how);
    if (py_str_is(form, "FMT_BINARY"))
        return plist_write_binary(v, &how);
    return py_raise(&py_ValueError, "fmt is FMT_BINARY, or not given for XML");
}

/* Either form, which the first bytes tell apart. */
static py_t *
plist_deserialize(py_t *v, py_t *options)
{
    size_t len;

    if (serializers_text_of(v) == NULL)
        return NULL;
    const char *bytes = py_text(v, &len);
    return plist_read(bytes, len);
}

/* ---- configparser ------------------------------------------------------------------------------------- */

/* A "%" starts an interpolation, or stands twice. configparser refuses others when they are set, so that
 * nobody's reader fails later. */
static bool
interpolates(const char *text)
{
    for (const char *p = strchr(text, '%'); p != NULL; p = strchr(p, '%')) {
        const char *close = p[1] == '(' ? strstr(p, ")s") : NULL;
        if (p[1] != '%' && close == NULL)
            return false;
        p = close != NULL ? close + 2 : p + 2;
    }
    return true;
}

/* Sets an option, whose name is lower case, among those of a section; the last of a name counts. Values must
 * be texts, and so must be what names them: numbers become the text that str() makes. */
static int
ini_take(py_t *into, py_t *key, py_t *value)
{
    AUTO(py) name = py_tostr(key);
    AUTO(py) text = name != NULL ? py_tostr(value) : NULL;
    AUTO(py) lowered = text != NULL ? ini_option(name) : NULL;

    if (lowered == NULL)
        return -1;
    if (py_is(value, PY_NONE))
        return py_raise_int(&py_TypeError, "option values must be strings");
    if (!interpolates(py_cstr(text)))
        return py_raise_int(&py_ValueError, "invalid interpolation syntax in '%s' at position %zu",
                            py_cstr(text), (size_t) (strchr(py_cstr(text), '%') - py_cstr(text)));
    return py_dict_set(into, lowered, text);
}

/* All of a section's. */
static int
ini_take_all(py_t *into, py_t *settings)
{
    py_t *key, *value;

    if (!py_is(settings, PY_DICT))
        return py_raise_int(&py_AttributeError, "'%s' object has no attribute 'items'",
                            py_type_name(settings));
    for (size_t i = 0; py_dict_next(settings, &i, &key, &value);)
        if (ini_take(into, key, value) < 0)
            return -1;
    return 0;
}

/* `defaults` of configparser's options: {option: text}. NEW. */
static py_t *
ini_defaults(py_t *options)
{
    AUTO(py) taken = py_odict();
    py_t *given = option(options, "defaults");

    return given == NULL || ini_take_all(taken, given) == 0 ? STEAL(taken) : NULL;
}

/* A line feed in a value is followed by a tab, as configparser does. */
static int
put_section(buf_t *b, py_t *section, py_t *taken)
{
    AUTO(py) name = py_tostr(section);
    py_t *key, *value;

    if (name == NULL)
        return -1;
    buf_printf(b, "[%s]\n", py_cstr(name));
    for (size_t i = 0; py_dict_next(taken, &i, &key, &value);) {
        buf_printf(b, "%s = ", py_cstr(key));
        for (const char *p = py_cstr(value); *p != '\0'; p++)
            buf_puts(b, *p == '\n' ? "\n\t" : (const char[]){ *p, '\0' });
        buf_putc(b, '\n');
    }
    buf_putc(b, '\n');
    return 0;
}

/* The section DEFAULT goes first, whatever its place among the others, as configparser writes it. NEW text,
 * or NULL raised. */
static py_t *
configparser_serialize(py_t *v, py_t *options)
{
    buf_auto_t b = BUF_INIT;
    AUTO(py) defaults = ini_defaults(options);
    py_t *section, *settings;

    if (defaults == NULL)
        return NULL;
    if (!py_is(v, PY_DICT))
        return py_raise(&py_TypeError, "configparser can only serialize dictionaries, not <class '%s'>",
                        py_type_name(v));
    py_t *first = py_dict_gets(v, "DEFAULT");
    AUTO(py) name = py_strz("DEFAULT");
    if (first != NULL && ini_take_all(defaults, first) < 0)
        return NULL;
    if ((first != NULL || py_dict_len(defaults) > 0) && put_section(&b, name, defaults) < 0)
        return NULL;
    for (size_t i = 0; py_dict_next(v, &i, &section, &settings);) {
        AUTO(py) taken = py_odict();
        if (settings != first && (ini_take_all(taken, settings) < 0 || put_section(&b, section, taken) < 0))
            return NULL;
    }
    return py_str_buf(&b);
}

/* Options of DEFAULT are told with every section, as configparser does. NEW, or NULL raised. */
static py_t *
configparser_deserialize(py_t *v, py_t *options)
{
    size_t len;

    if (serializers_text_of(v) == NULL)
        return NULL;
    const char *text = py_text(v, &len);
    py_t *defaults = ini_defaults(options);
    return defaults != NULL ? ini_read(text, len, defaults) : NULL;
}

/* ---- keyvalue ----------------------------------------------------------------------------------------- */

/* An option that is a text; the default without one. BORROWED. */
static const char *
serializer_option(py_t *options, const char *name, const char *dflt)
{
    py_t *v = option(options, name);

    return v != NULL && py_is(v, PY_STR) ? py_cstr(v) : dflt;
}

/* A line, and before it the end of the one above. */
static int
keyvalue_put(buf_t *b, py_t *key, py_t *value, py_t *options)
{
    AUTO(py) name = py_tostr(key);
    AUTO(py) text = name != NULL ? py_tostr(value) : NULL;

    if (text == NULL)
        return -1;
    AUTO_FREE char *quoted = option_flag(options, "quoting", false) ? str_shell_quote(py_cstr(text)) : NULL;
    buf_printf(b, "%s%s%s%s", b->len > 0 ? serializer_option(options, "line_ending", "\n") : "",
               py_cstr(name), serializer_option(options, "separator", "="),
               quoted != NULL ? quoted : py_cstr(text));
    return 0;
}

static py_t *
keyvalue_serialize(py_t *v, py_t *options)
{
    buf_auto_t b = BUF_INIT;
    py_t *key, *value;

    if (py_is(v, PY_DICT)) {
        for (size_t i = 0; py_dict_next(v, &i, &key, &value);)
            if (keyvalue_put(&b, key, value, options) < 0)
                return NULL;
        return py_str_buf(&b);
    }
    if (!py_is(v, PY_LIST) && !py_is(v, PY_TUPLE))
        return py_raise(&py_ValueError, "Input validation failed. Iterable required.");
    for (size_t i = 0; i < py_seq_len(v); i++) {
        py_t *pair = py_seq_at(v, i);
        if ((!py_is(pair, PY_LIST) && !py_is(pair, PY_TUPLE)) || py_seq_len(pair) != 2)
            return py_raise(&py_ValueError, "item %zu is no pair of a key and a value", i + 1);
        if (keyvalue_put(&b, py_seq_at(pair, 0), py_seq_at(pair, 1), options) < 0)
            return NULL;
    }
    return py_str_buf(&b);
}

static py_t *
keyvalue_deserialize(py_t *v, py_t *options)
{
    const char *sep = serializer_option(options, "separator", "=");
    AUTO(py) out = py_odict();

    if (serializers_text_of(v) == NULL)
        return NULL;
    size_t all;
    const char *text = py_text(v, &all), *end = text + all;
    for (const char *line = text, *next; line < end; line = next) {
        size_t len = (size_t) (end - line), sep_len = strlen(sep);
        const char *feed = memchr(line, '\n', len);
        next = feed != NULL ? feed + 1 : end;
        len = (size_t) ((feed != NULL ? feed : end) - line);
        len -= len > 0 && line[len - 1] == '\r';
        const char *at = memmem(line, len, sep, sep_len);
        if (at == NULL)
            return py_raise(&py_ValueError, "a line without '%s': %.*s", sep, (int) (len < 80 ? len : 80),
                            line);
        AUTO(py) key = py_str(line, (size_t) (at - line));
        /* Without the quotes around it, when `quoting` is false. */
        const char *said = at + sep_len;
        size_t n = (size_t) (line + len - said);
        bool dequote = option(options, "quoting") != NULL && !option_flag(options, "quoting", true);
        bool quoted = dequote && n > 1 && said[0] == said[n - 1] && (said[0] == '"' || said[0] == '\'');
        AUTO(py) value = quoted ? py_str(said + 1, n - 2) : py_str(said, n);
        if (key == NULL || value == NULL || py_dict_set(out, key, value) < 0)
            return NULL;
    }
    return STEAL(out);
}

/* ---- toml --------------------------------------------------------------------------------------------- */

static py_t *
toml_serialize(py_t *v, py_t *options)
{
    return toml_write(v);
}

static py_t *
toml_deserialize(py_t *v, py_t *options)
{
    size_t len;

    if (serializers_text_of(v) == NULL)
        return NULL;
    const char *text = py_text(v, &len);
    return toml_read(text, len);
}

/* ---- table -------------------------------------------------------------------------------------------- */

static const serializer_t rows[] = {
    { "configparser", configparser_serialize, configparser_deserialize, { "defaults" } },
    { "json", json_serialize, json_deserialize, { "ensure_ascii", "indent", "separators", "sort_keys" } },
    { "keyvalue", keyvalue_serialize, keyvalue_deserialize, { "line_ending", "quoting", "separator" } },
    { "plist", plist_serialize, plist_deserialize, { "fmt", "skipkeys", "sort_keys" }, .bytes = true },
    { "python", python_serialize, NULL, { NULL } },
    { "toml", toml_serialize, toml_deserialize, { NULL } },
    { "yaml",
      yaml_serialize,
      yaml_deserialize,
      { "allow_unicode", "default_flow_style", "explicit_end", "explicit_start", "indent", "sort_keys",
        "width" } },
};

const serializer_t *
serializer_find(const char *name)
{
    for (size_t i = 0; i < NELEMS(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* Raises TypeError for an option that the serializer does not take. */
static int
check_options(const serializer_t *self, py_t *options)
{
    py_t *key, *value;

    for (size_t i = 0; options != NULL && py_dict_next(options, &i, &key, &value);) {
        size_t k = 0;
        while (self->options[k] != NULL && strcmp(self->options[k], py_cstr(key)) != 0)
            k++;
        if (self->options[k] != NULL)
            continue;
        buf_auto_t known = BUF_INIT;
        for (k = 0; self->options[k] != NULL; k++)
            buf_printf(&known, "%s%s", k > 0 ? ", " : "; it takes ", self->options[k]);
        return py_raise_int(&py_TypeError, "the serializer %s takes no option '%s'%s", self->name,
                            py_cstr(key), buf_str(&known));
    }
    return 0;
}

py_t *
serializer_write(const serializer_t *self, py_t *v, py_t *options)
{
    return check_options(self, options) == 0 ? self->serialize(v, options) : NULL;
}
