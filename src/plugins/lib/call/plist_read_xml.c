/* plist_read_xml.c - see plist.h: property lists in XML. As plistlib does, it looks at the elements that it
 * knows and passes over others; attributes mean nothing; a document type that declares entities is
 * refused. */
#include <ctype.h>
#include <strings.h>

#include "plugins/lib/call/plist_int.h"

#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/data/yaml_scalar.h"
#include "common/py/py_error.h"

/* A name within the text, which ends at no NUL. */
typedef struct tag {
    const char *name;
    size_t len;
} tag_t;

typedef struct xml_in {
    const char *text, *at, *end;
    tag_t open[PLIST_DEPTH]; /* elements without their end so far */
    size_t n_open;
    buf_t data;              /* the text since the last element began */
    py_t *root, *key, *into; /* owned; `into` is a list of the lists and mappings around */
    bool ended;              /* the outermost element */
} xml_in_t;

static void
xml_in_free(xml_in_t *self)
{
    buf_free(&self->data);
    py_unref(self->root);
    py_unref(self->key);
    py_unref(self->into);
}

/* The line of the place that is being read, from 1; counted only for an error. */
static size_t
line_of(const xml_in_t *self)
{
    size_t line = 1;

    for (const char *p = self->text; p < self->at && p < self->end; p++)
        line += *p == '\n';
    return line;
}

/* Raises expat's words where they are known, with the line. */
static int
xml_wrong(const xml_in_t *self, const char *what)
{
    return py_raise_int(&py_ValueError, "%s: line %zu", what, line_of(self));
}

/* ---- values ------------------------------------------------------------------------------------------- */

/* BORROWED innermost list or mapping; NULL: there is none. */
static py_t *
xml_around(const xml_in_t *self)
{
    size_t n = py_seq_len(self->into);

    return n > 0 ? py_seq_at(self->into, n - 1) : NULL;
}

/* TAKES the value, which may be NULL with its error raised. Within a mapping it is the value of the key
 * before; outside of all it is the whole, and a later one takes its place, as in plistlib. */
static int
xml_put(xml_in_t *self, py_t *value)
{
    AUTO(py) v = value;
    py_t *into = xml_around(self);
    int rc = 0;

    if (v == NULL)
        return -1;
    if (self->key != NULL && into != NULL && py_is(into, PY_DICT)) {
        rc = py_dict_set(into, self->key, v);
        py_destroy(&self->key);
    } else if (into == NULL) {
        py_unref(self->root);
        self->root = py_ref(v);
    } else if (py_is(into, PY_LIST)) {
        py_append(into, v);
    } else {
        rc = py_raise_int(&py_ValueError, "unexpected element at line %zu", line_of(self));
    }
    return rc;
}

/* Puts it into what is around, and makes it what is around from here on. */
static int
begin_container(xml_in_t *self, py_t *container)
{
    int rc = xml_put(self, py_ref(container));

    py_append_new(self->into, container);
    return rc;
}

static int
begin_dict(xml_in_t *self)
{
    return begin_container(self, py_dict());
}

static int
begin_array(xml_in_t *self)
{
    return begin_container(self, py_list());
}

/* A key without a value would be lost otherwise. */
static int
end_container(xml_in_t *self)
{
    if (self->key != NULL)
        return py_raise_int(&py_ValueError, "missing value for key '%s' at line %zu", py_cstr(self->key),
                            line_of(self));
    AUTO(py) last = py_int(-1);
    return py_delitem(self->into, last);
}

/* The text so far, which is empty afterwards. NEW. */
static py_t *
take_data(xml_in_t *self)
{
    AUTO(py) text = py_str(buf_str(&self->data), self->data.len);

    buf_clear(&self->data);
    return STEAL(text);
}

/* Keys stand in mappings only, and have a value between them. */
static int
end_key(xml_in_t *self)
{
    py_t *into = xml_around(self);

    if (self->key != NULL || into == NULL || !py_is(into, PY_DICT))
        return py_raise_int(&py_ValueError, "unexpected key at line %zu", line_of(self));
    self->key = take_data(self);
    return 0;
}

static int
end_string(xml_in_t *self)
{
    return xml_put(self, take_data(self));
}

static int
end_true(xml_in_t *self)
{
    return xml_put(self, PY_True);
}

static int
end_false(xml_in_t *self)
{
    return xml_put(self, PY_False);
}

/* Python's int() reads it: with blanks around and underscores; "0x" is looked for first, as it must be told
 * the base. */
static int
end_integer(xml_in_t *self)
{
    enum { TEN = 10, SIXTEEN = 16 };
    AUTO(py) text = take_data(self);
    const char *raw = py_cstr(text);

    return xml_put(self, py_toint(text, str_starts(raw, "0x") || str_starts(raw, "0X") ? SIXTEEN : TEN));
}

static int
end_real(xml_in_t *self)
{
    AUTO(py) text = take_data(self);

    return xml_put(self, py_tofloat(text));
}

static int
end_date(xml_in_t *self)
{
    AUTO(py) text = take_data(self);

    return xml_put(self, plist_date_read(py_cstr(text)));
}

/* Base64, with blanks and line ends in it, which the decoder passes over. */
static int
end_data(xml_in_t *self)
{
    AUTO_FREE char *why = NULL;
    size_t len;
    AUTO_FREE char *bytes = yaml_from_base64(buf_str(&self->data), self->data.len, &len, &why);

    buf_clear(&self->data);
    return bytes != NULL ? xml_put(self, py_bytes(bytes, len)) : py_raise_int(&py_ValueError, "%s", why);
}

/* Elements that plistlib knows. Those without `begin` have a text only. */
static const struct element {
    const char *name;
    int (*begin)(xml_in_t *self), (*end)(xml_in_t *self);
} elements[] = {
    { "array", begin_array, end_container },
    { "data", NULL, end_data },
    { "date", NULL, end_date },
    { "dict", begin_dict, end_container },
    { "false", NULL, end_false },
    { "integer", NULL, end_integer },
    { "key", NULL, end_key },
    { "real", NULL, end_real },
    { "string", NULL, end_string },
    { "true", NULL, end_true },
};

/* NULL: plistlib passes over it. */
static const struct element *
element_named(const tag_t *tag)
{
    for (size_t i = 0; i < NELEMS(elements); i++)
        if (strlen(elements[i].name) == tag->len && memcmp(elements[i].name, tag->name, tag->len) == 0)
            return &elements[i];
    return NULL;
}

/* ---- markup ------------------------------------------------------------------------------------------- */

/* Goes behind the next `word`, and returns where it begins; NULL raised. `missing` is the error when it is
 * not there. */
static const char *
xml_pass(xml_in_t *self, const char *word, const char *missing)
{
    const char *found = memmem(self->at, (size_t) (self->end - self->at), word, strlen(word));

    if (found == NULL) {
        (void) xml_wrong(self, missing);
        return NULL;
    }
    self->at = found + strlen(word);
    return found;
}

/* Goes behind the '>' that ends a tag or declaration; quoted ones do not count, nor those in brackets. A
 * document type may hold declarations in brackets, each with a '>' of its own. */
static int
pass_tag(xml_in_t *self)
{
    char quote = '\0';
    int brackets = 0;

    for (; self->at < self->end; self->at++) {
        char c = *self->at;
        if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '>' && brackets == 0) {
            self->at++;
            return 0;
        }
        brackets += quote != '\0' ? 0 : (c == '[') - (c == ']');
    }
    return xml_wrong(self, "unclosed token");
}

/* Declared entities are how a small file becomes a large one; plistlib refuses them too. */
static int
read_doctype(xml_in_t *self)
{
    const char *from = self->at;

    if (pass_tag(self) < 0)
        return -1;
    if (memmem(from, (size_t) (self->at - from), "<!ENTITY", strlen("<!ENTITY")) != NULL)
        return py_raise_int(&py_ValueError, "XML entity declarations are not supported in plist files");
    return 0;
}

/* "<?xml ... encoding='...'?>" and the like. */
static int
read_instruction(xml_in_t *self)
{
    static const char word[] = "encoding=";
    const char *from = self->at, *end = xml_pass(self, "?>", "unclosed token");
    const char *found = end != NULL ? memmem(from, (size_t) (end - from), word, strlen(word)) : NULL;

    if (end == NULL)
        return -1;
    if (found == NULL)
        return 0;
    const char *name_at = found + strlen(word), *name_end;
    name_at += name_at < end; /* the quote, if there is one before "?>" */
    for (name_end = name_at; name_end < end && strchr("'\"?", *name_end) == NULL;)
        name_end++;
    AUTO_FREE char *name = xstrndup(name_at, (size_t) (name_end - name_at));
    /* ASCII is UTF-8. Whether the bytes are is looked at before anything is read. */
    if (strcasecmp(name, "utf-8") == 0 || strcasecmp(name, "us-ascii") == 0)
        return 0;
    return py_raise_int(&py_ValueError, "the encoding %s is not taken: write the file in UTF-8", name);
}

/* The name that starts at `at`. Any characters that do not end one make a name here; an unknown name is
 * passed over anyway. */
static int
read_name(xml_in_t *self, tag_t *ret_tag)
{
    *ret_tag = (tag_t){ .name = self->at };
    while (self->at < self->end && !isspace((unsigned char) *self->at) && strchr("/><&=", *self->at) == NULL)
        self->at++;
    ret_tag->len = (size_t) (self->at - ret_tag->name);
    return ret_tag->len > 0 ? 0 : xml_wrong(self, "not well-formed (invalid token)");
}

/* The innermost element ends. Whether it was the outermost decides if more may come. */
static int
end_element(xml_in_t *self)
{
    const struct element *element = element_named(&self->open[--self->n_open]);

    self->ended = self->n_open == 0;
    return element != NULL ? element->end(self) : 0;
}

/* Tags are nested: the one that ends is the one that began last. */
static int
read_end(xml_in_t *self)
{
    tag_t tag;

    self->at += strlen("</");
    if (read_name(self, &tag) < 0)
        return -1;
    const tag_t *open = self->n_open > 0 ? &self->open[self->n_open - 1] : NULL;
    if (open == NULL || open->len != tag.len || memcmp(open->name, tag.name, tag.len) != 0)
        return xml_wrong(self, "mismatched tag");
    return pass_tag(self) < 0 ? -1 : end_element(self);
}

/* The text before an element is dropped: only the text of an innermost one counts. One that ends in "/>" ends
 * at once. */
static int
read_begin(xml_in_t *self)
{
    tag_t tag;

    self->at++;
    if (read_name(self, &tag) < 0 || pass_tag(self) < 0)
        return -1;
    if (self->ended)
        return xml_wrong(self, "junk after document element");
    if (self->n_open == PLIST_DEPTH)
        return xml_wrong(self, "more elements inside each other than are taken");
    self->open[self->n_open++] = tag;
    buf_clear(&self->data);
    const struct element *element = element_named(&tag);
    if (element != NULL && element->begin != NULL && element->begin(self) < 0)
        return -1;
    return self->at[-2] == '/' ? end_element(self) : 0;
}

/* Its text is taken as it is. */
static int
read_cdata(xml_in_t *self)
{
    static const char begin[] = "<![CDATA[";
    const char *from = self->at + strlen(begin), *end = xml_pass(self, "]]>", "unclosed CDATA section");

    if (end == NULL)
        return -1;
    buf_add(&self->data, from, (size_t) (end - from));
    return 0;
}

static int
read_comment(xml_in_t *self)
{
    return xml_pass(self, "-->", "unclosed token") != NULL ? 0 : -1;
}

static const struct markup {
    const char *begin;
    int (*read)(xml_in_t *self);
    /* The longer ones first: "<" begins all of them. */
} markups[] = {
    { "<!--", read_comment },   { "<![CDATA[", read_cdata }, { "<!DOCTYPE", read_doctype },
    { "<?", read_instruction }, { "</", read_end },          { "<", read_begin },
};

/* ---- text --------------------------------------------------------------------------------------------- */

/* "#38" or "#x26"; false when it is no character. Half of a pair of UTF-16 is none, nor is NUL, as XML
 * says. */
static bool
put_number_of(buf_t *out, const char *name)
{
    enum { TEN = 10, SIXTEEN = 16, LAST = 0x10ffff, SURROGATES = 0xd800, AFTER = 0xdfff };
    bool hex = name[1] == 'x';
    char *end, bytes[4];
    unsigned long cp = strtoul(name + 1 + hex, &end, hex ? SIXTEEN : TEN);

    if (*end != '\0' || end == name + 1 + hex || cp == 0 || cp > LAST || (cp >= SURROGATES && cp <= AFTER))
        return false;
    buf_add(out, bytes, utf8_encode((uint32_t) cp, bytes));
    return true;
}

/* The five that XML has by itself, and characters by their number. */
static int
read_entity(xml_in_t *self)
{
    static const struct {
        const char *name;
        char c;
    } known[] = { { "amp", '&' }, { "lt", '<' }, { "gt", '>' }, { "quot", '"' }, { "apos", '\'' } };
    const char *from = self->at + 1, *end = xml_pass(self, ";", "not well-formed (invalid token)");

    if (end == NULL)
        return -1;
    AUTO_FREE char *name = xstrndup(from, (size_t) (end - from));
    if (*name == '#')
        return put_number_of(&self->data, name) ? 0
                                                : xml_wrong(self, "reference to invalid character number");
    for (size_t i = 0; i < NELEMS(known); i++) {
        if (str_eq(name, known[i].name)) {
            buf_putc(&self->data, known[i].c);
            return 0;
        }
    }
    return xml_wrong(self, "undefined entity");
}

/* One character of text. Line ends of other systems are line feeds. Control characters are not in XML's set,
 * 2.2 of its specification. */
static int
read_char(xml_in_t *self)
{
    char c = *self->at;

    if (c == '&')
        return read_entity(self);
    self->at++;
    if (c == '\r' && self->at < self->end && *self->at == '\n')
        return 0;
    if ((unsigned char) c < ' ' && c != '\t' && c != '\n' && c != '\r')
        return xml_wrong(self, "not well-formed (invalid token)");
    if (self->n_open == 0 && !isspace((unsigned char) c))
        return xml_wrong(self, self->ended ? "junk after document element" : "syntax error");
    buf_putc(&self->data, c == '\r' ? '\n' : c);
    return 0;
}

py_t *
plist_read_xml(const char *text, size_t len)
{
    __attribute__((cleanup(xml_in_free)))
    xml_in_t self = { .text = text, .at = text, .end = text + len, .into = py_list() };

    if (!utf8_valid(text, len))
        return py_raise(&py_ValueError, "not well-formed (invalid token): the text is not UTF-8");
    while (self.at < self.end) {
        /* Markup by its first characters; anything else is a character of the text. */
        int rc = py_tick();
        size_t i = 0;
        for (; i < NELEMS(markups); i++) {
            size_t n = strlen(markups[i].begin);
            if ((size_t) (self.end - self.at) >= n && memcmp(self.at, markups[i].begin, n) == 0)
                break;
        }
        if (rc < 0 || (i < NELEMS(markups) ? markups[i].read(&self) : read_char(&self)) < 0)
            return NULL;
    }
    if (!self.ended) {
        (void) xml_wrong(&self, "no element found");
        return NULL;
    }
    return self.root != NULL ? py_ref(self.root) : PY_None;
}
