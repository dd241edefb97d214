/* filters_urlize.c - urlize: addresses in a text become links, as jinja2.utils.urlize does.
 *
 * The escaped text is split at white space; of each word brackets before and punctuation after are set aside,
 * and the rest is matched against Jinja's patterns for web and mail addresses and against extra schemes. */
#include "common/base/str.h"
#include "common/jinja/filter/filter.h"
#include "common/match/regex.h"

static const char http_pattern[] =
    "^((https?://|www\\.)(([\\w%-]+\\.)+)?([a-z]{2,63}|xn--[\\w%]{2,59})"
    "|([\\w%-]{2,63}\\.)+(com|net|int|edu|gov|org|info|mil)"
    "|(https?://)((([\\d]{1,3})(\\.[\\d]{1,3}){3})|(\\[([\\da-f]{0,4}:){2}([\\da-f]{0,4}:?){1,6}])))"
    "(?::[\\d]{1,5})?(?:[/?#]\\S*)?$";
static const char email_pattern[] = "^\\S+@\\w[\\w.-]*\\.\\w+$";

/* Options of an urlize(). */
typedef struct linker {
    rx_t *http, *email;
    buf_t attributes; /* rel and target */
    int64_t limit;    /* characters of a shown address; negative: counts from its end */
    bool limited;
    py_t *schemes; /* list */
} linker_t;

static bool
filters_urlize_matches(rx_t *rx, const char *s)
{
    return rx_match(rx, s, strlen(s), 0, NULL) > 0;
}

static size_t
filters_urlize_count(const char *s, const char *part)
{
    size_t n = 0;
    for (; (s = strstr(s, part)) != NULL; s += strlen(part))
        n++;
    return n;
}

static const char *const openers[] = { "(", "<", "&lt;" };
static const char *const closers[] = { ")", ">", "&gt;" };

/* Length in bytes of the brackets before an address. */
static size_t
head_len(const char *word)
{
    size_t n = 0;
    for (size_t i = 0; i < NELEMS(openers); i++)
        if (str_starts(word + n, openers[i])) {
            n += strlen(openers[i]);
            i = (size_t) -1;
        }
    return n;
}

/* Length in bytes up to the punctuation after an address. */
static size_t
middle_len(const char *s, size_t n)
{
    static const char *const tails[] = { ")", ">", ".", ",", "\n", "&gt;" };
    for (size_t i = 0; i < NELEMS(tails); i++) {
        size_t len = strlen(tails[i]);
        if (n >= len && memcmp(s + n - len, tails[i], len) == 0) {
            n -= len;
            i = (size_t) -1;
        }
    }
    return n;
}

/* Extends an address over closing brackets for those that it opens itself. */
static size_t
filters_urlize_balance(const char *s, size_t n)
{
    for (size_t i = 0; i < NELEMS(openers); i++) {
        char *middle AUTO_FREE = xstrndup(s, n);
        size_t opened = filters_urlize_count(middle, openers[i]),
               closed = filters_urlize_count(middle, closers[i]);
        if (opened <= closed)
            continue;
        for (; opened > 0; opened--) {
            const char *at = strstr(s + n, closers[i]);
            if (at == NULL)
                break;
            n = (size_t) (at - s) + strlen(closers[i]);
        }
    }
    return n;
}

/* The link; the shown text is cut to the limit. */
static void
filters_urlize_add_link(const linker_t *l, buf_t *out, const char *prefix, const char *middle)
{
    AUTO(py) text = py_strz(middle);
    buf_printf(out, "<a href=\"%s%s\"%s>", prefix, middle, buf_str(&l->attributes));
    int64_t len = py_len(text);
    if (l->limited && len > l->limit) {
        int64_t n = l->limit >= 0 ? l->limit : len + l->limit > 0 ? len + l->limit : 0;
        AUTO(py) shown = py_substr(text, 0, (size_t) n);
        buf_printf(out, "%s...</a>", py_cstr(shown));
    } else {
        buf_printf(out, "%s</a>", middle);
    }
}

static bool
add_scheme(const linker_t *l, buf_t *out, const char *middle)
{
    for (size_t i = 0; i < py_seq_len(l->schemes); i++) {
        const char *scheme = py_cstr(py_seq_at(l->schemes, i));
        if (strcmp(middle, scheme) == 0 || !str_starts(middle, scheme))
            continue;
        buf_printf(out, "<a href=\"%s\"%s>%s</a>", middle, buf_str(&l->attributes), middle);
        return true;
    }
    return false;
}

/* Appends ` name="value"`, escaped. */
static int
filters_urlize_add_attribute(buf_t *out, const char *name, py_t *value)
{
    AUTO(py) safe = py_escape(value);
    if (safe == NULL)
        return -1;
    buf_printf(out, " %s=\"%s\"", name, py_cstr(safe));
    return 0;
}

/* Words of `rel`, sorted and unique: nofollow, the argument's and the policy's. NEW list. */
static py_t *
rel_words(jcontext_t *ctx, py_t *const *a)
{
    AUTO(py) policy = jpolicy(ctx, "urlize.rel");
    AUTO(py) all = py_set(false);
    AUTO(py) nofollow = py_strz("nofollow");
    AUTO(py) noopener = py_strz("noopener");
    py_t *texts[] = { a[4], py_dict_gets(ctx->session->engine->policies, "urlize.rel") != NULL ? policy
                                                                                               : noopener };
    int follow = jflag(a[2], false);
    if (follow < 0)
        return NULL;
    if (follow > 0)
        py_set_add(all, nofollow);
    for (size_t i = 0; i < NELEMS(texts); i++) {
        AUTO(py)
        words = texts[i] != NULL && py_is(texts[i], PY_STR) ? jmethod(texts[i], "split", 0) : py_list();
        if (words == NULL)
            return NULL;
        for (size_t k = 0; k < py_seq_len(words); k++)
            py_set_add(all, py_seq_at(words, k));
    }
    AUTO(py) list = py_tolist(all);
    return list != NULL && py_sort(list, NULL, false) == 0 ? STEAL(list) : NULL;
}

/* Extra schemes must look like "scheme:" with up to two slashes. */
static int
read_schemes(linker_t *l, jcontext_t *ctx, py_t *given)
{
    AUTO(py) policy = jpolicy(ctx, "urlize.extra_schemes");
    py_t *schemes = given != NULL && !py_is(given, PY_NONE) ? given : policy;
    l->schemes = py_is(schemes, PY_NONE) ? py_list() : py_tolist(schemes);
    AUTO(rx) valid = rx_new("([\\w.+-]{2,}:(/){0,2})\\Z", 0, NULL);
    for (size_t i = 0; l->schemes != NULL && i < py_seq_len(l->schemes); i++) {
        if (filters_urlize_matches(valid, py_cstr(py_seq_at(l->schemes, i))))
            continue;
        AUTO(py) shown = py_repr(py_seq_at(l->schemes, i));
        return py_raise_int(&jinja_FilterArgumentError, "%s is not a valid URI scheme prefix.",
                            py_cstr(shown));
    }
    return l->schemes != NULL ? 0 : -1;
}

/* Reads the filter's arguments, and the environment's policies for those not given. */
static int
filters_urlize_read_options(linker_t *l, jcontext_t *ctx, py_t *const *a)
{
    AUTO(py) words = rel_words(ctx, a);
    AUTO(py) space = py_strz(" ");
    AUTO(py) rel = words != NULL ? jmethod(space, "join", 1, words) : NULL;
    AUTO(py) policy = jpolicy(ctx, "urlize.target");
    py_t *target = a[3] != NULL && !py_is(a[3], PY_NONE) ? a[3] : policy;
    l->limited = a[1] != NULL && !py_is(a[1], PY_NONE);
    if (rel == NULL || (l->limited && jindex(a[1], 0, &l->limit) < 0))
        return -1;
    if (py_len(rel) > 0 && filters_urlize_add_attribute(&l->attributes, "rel", rel) < 0)
        return -1;
    if (py_is(target, PY_STR) && py_len(target) > 0 &&
        filters_urlize_add_attribute(&l->attributes, "target", target) < 0)
        return -1;
    return read_schemes(l, ctx, a[5]);
}

static py_t *
do_urlize(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) text = py_escape(a[0]);
    linker_t l = { .http = rx_new(http_pattern, RX_IGNORECASE, NULL),
                   .email = rx_new(email_pattern, 0, NULL) };
    buf_auto_t out = BUF_INIT;
    int rc = text != NULL ? filters_urlize_read_options(&l, ctx, a) : -1;
    if (rc == 0) {
        /* Splits at white space, which is copied unchanged. */
        const char *s = py_cstr(text);
        const char *end = s + strlen(s);
        while (s < end) {
            const char *p = s;
            for (size_t n; (n = space_at(p, end)) > 0;)
                p += n;
            buf_add(&out, s, (size_t) (p - s));
            for (s = p; p < end && space_at(p, end) == 0;)
                p++;
            char *word AUTO_FREE = xstrndup(s, (size_t) (p - s));
            /* Tries web address, mailto:, mail address, then the extra schemes. */
            size_t head = head_len(word);
            size_t n = middle_len(word + head, strlen(word + head));
            n = filters_urlize_balance(word + head, n);
            char *middle AUTO_FREE = xstrndup(word + head, n);
            buf_add(&out, word, head);
            if (filters_urlize_matches(l.http, middle))
                filters_urlize_add_link(
                    &l, &out,
                    str_starts(middle, "https://") || str_starts(middle, "http://") ? "" : "https://",
                    middle);
            else if (str_starts(middle, "mailto:") && filters_urlize_matches(l.email, middle + 7))
                buf_printf(&out, "<a href=\"%s\">%s</a>", middle, middle + 7);
            else if (strchr(middle, '@') != NULL && !str_starts(middle, "www.") &&
                     strchr(middle, ':') == NULL && filters_urlize_matches(l.email, middle))
                buf_printf(&out, "<a href=\"mailto:%s\">%s</a>", middle, middle);
            else if (!add_scheme(&l, &out, middle))
                buf_puts(&out, middle);
            buf_puts(&out, word + head + n);

            s = p;
        }
    }
    rx_destroy(&l.http);
    rx_destroy(&l.email);
    buf_free(&l.attributes);
    py_unref(l.schemes);
    if (rc < 0)
        return NULL;
    AUTO(py) linked = py_str_buf(&out);
    return ctx->autoescape ? py_markup(linked) : STEAL(linked);
}

static const jfilter_t rows[] = {
    { JROW("urlize", do_urlize,
           JP("eval_ctx", "value", "trim_url_limit", "nofollow", "target", "rel", "extra_schemes"), 2, 7, 0),
      JF_CONTEXT, "Addresses as links." },
};

const jfilter_table_t jfilters_urlize = JTABLE(rows);
