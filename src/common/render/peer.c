/* peer.c - peers' values in rendered files: refused where they would become structure.
 *
 * A template prints grains, event data, mine values and returns into text that is then read as YAML, JSON, a
 * template or a program. py_peer.h's marks tell which bytes these are; this file checks them against the
 * meaning of the text. With the option peer_data: warn the findings are only logged. */
#include <pthread.h>
#include <sys/stat.h>

#include "common/base/json_span.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/data/yaml_span.h"
#include "common/files/fileserver.h"
#include "common/py/py_as.h"
#include "common/py/py_peer.h"
#include "common/render/render_int.h"
#include "salt/limits.h"
#include "salt/log.h"

/* TOLD_MAX: reports per text; each costs a scan of the lines before it. */
enum { SHOWN = 60, PLACES_MAX = 1000, TOLD_MAX = 100 };

void
run_take_peer(rendering_t *run, spans_t *spans)
{
    /* A template printed it as text, so a list in brackets counts as text, too. */
    for (size_t i = 0; i < spans->n; i++)
        spans->v[i].flags |= SPAN_TEXT;
    spans_free(&run->peer);
    run->peer = *spans;
    *spans = (spans_t){ .v = NULL };
}

/* ---- what is told -------------------------------------------------------------------------------------- */

static int
peer_line_of(const rendering_t *run, size_t at)
{
    int line = 1;

    for (size_t i = 0; i < at; i++)
        line += buf_str(&run->text)[i] == '\n';
    return line;
}

/* Reports a finding to the process (call_refused) and the caller. -EINVAL, or 0 with a warning in the log. */
static int
peer_refuse(rendering_t *run, const breakout_t *b, fail_t *err)
{
    const span_t *s = &run->peer.v[b->span];
    bool strict = !str_eq(value_str(ctx_opts(run->render->ctx), "peer_data", "strict"), "warn");
    int line = peer_line_of(run, b->at);

    /* The value on one line for a message, shortened. */
    size_t len = s->to - s->from, cut = len > SHOWN ? SHOWN : len;

    while (cut > 0 && cut < len && ((unsigned char) buf_str(&run->text)[s->from + cut] & 0xc0) == 0x80)
        cut--;
    json_auto_t *text = value_utf8(buf_str(&run->text) + s->from, cut);
    AUTO_FREE char *quoted = value_repr(text);
    AUTO_FREE char *value = xasprintf("%s%s", quoted, cut < len ? "..." : "");

    AUTO_FREE char *message = xasprintf(
        "A value that a peer said is not only a value here: %s becomes %s. Print it so that it stays one: "
        "{{ ... | json }} or {{ ... | yaml_dquote }}",
        value, b->what);
    fail_auto_t why = FAIL_INIT;

    run_failed_near(run, message, line, 0, &why);
    AUTO_FREE char *file = run_file(run);
    int made = 0;
    AUTO_FREE char *place = run_place(run, line, &made);
    json_auto_t *told = json_pack("{s:s*, s:s, s:s, s:s, s:b}", "file", place != NULL ? place : file, "value",
                                  value, "becomes", b->what, "error", message, "refused", strict);
    if (made > 0)
        json_object_set_new(told, "line", json_integer(made));
    call_refused(run->render->ctx, told);
    if (strict)
        return fail_set(err, -EINVAL, "%s", fail_text(&why));
    log_warning("%s (peer_data: warn)", fail_text(&why));
    return 0;
}

int
run_check_yaml(rendering_t *run, fail_t *err)
{
    breakout_t b;

    if (run->peer.n == 0 || yaml_spans_fit(buf_str(&run->text), run->text.len, &run->peer, &b))
        return 0;
    return peer_refuse(run, &b, err);
}

int
run_check_json(rendering_t *run, size_t from, fail_t *err)
{
    breakout_t b;

    if (run->peer.n == 0)
        return 0;
    /* The "#!" line is not part of the document, and no peer may write it. */
    for (size_t i = 0; i < run->peer.n; i++)
        if (run->peer.v[i].from < from) {
            b = (breakout_t){ i, run->peer.v[i].from, "a part of the line that names the renderer" };
            return peer_refuse(run, &b, err);
        }
    spans_t moved = { .v = NULL };
    for (size_t i = 0; i < run->peer.n; i++)
        spans_add(&moved, run->peer.v[i].from - from, run->peer.v[i].to - from, run->peer.v[i].flags);
    bool fits = json_spans_fit(buf_str(&run->text) + from, run->text.len - from, &moved, &b);
    spans_free(&moved);
    if (fits)
        return 0;
    b.at += from;
    return peer_refuse(run, &b, err);
}

/* ---- words with a meaning of their own
 * ------------------------------------------------------------------- */

#define SLOT    "__slot__:"
#define KEYWORD "a keyword of the function"

static const char *const top_words[] = { "include", "extend", "exclude" };

/* State of the search for texts with a meaning of their own. */
typedef struct words {
    rendering_t *run;
    bool named;          /* an SLS file, where `include` and others are keywords; not a reactor's file */
    bool templates;      /* the file has a key `template`, so states may render its texts */
    const py_t *keyword; /* text that names a keyword of a function; NULL: none */
    fail_t *err;
    int rc, told;
} words_t;

/* Name, for the message, of what a text with a special meaning becomes; NULL for plain text. */
static const char *
peer_calls(const words_t *w, const char *text, size_t len)
{
    static const char message[] = "-----BEGIN PGP MESSAGE-----";

    if (str_starts(text, SLOT))
        return "a slot, which calls a function";
    if (memmem(text, len, message, strlen(message)) != NULL)
        return "a message, which is decrypted";
    return w->templates && render_has_tags(w->run->render, text, len) ? "a template, which a state renders"
                                                                      : NULL;
}

/* True when a text below `v` has a special meaning. At most `*left` containers are visited, as they may
 * contain themselves; beyond that the answer is true, and the caller looks closer. */
static bool
has_call(const words_t *w, const py_t *v, int *left)
{
    py_t *key, *value;

    if (py_is(v, PY_STR))
        return peer_calls(w, PY_TEXT(v), PY_LEN(v)) != NULL;
    if (--*left < 0)
        return true;
    for (size_t i = 0; py_is(v, PY_LIST) && i < py_seq_len(v); i++)
        if (has_call(w, py_seq_at(v, i), left))
            return true;
    for (size_t i = 0; py_is(v, PY_DICT) && py_dict_next(v, &i, &key, &value);)
        if (has_call(w, value, left))
            return true;
    return false;
}

static void
look_at_word(void *cookie, const yaml_span_place_t *place)
{
    words_t *w = cookie;
    const py_t *keyword = w->keyword != NULL && py_is(w->keyword, PY_STR) ? w->keyword : NULL;
    bool named = keyword != NULL && PY_LEN(keyword) == place->len &&
                 memcmp(PY_TEXT(keyword), place->text, place->len) == 0;
    bool own = false;
    breakout_t b;

    for (size_t i = 0; place->key && place->depth == 0 && w->named && i < NELEMS(top_words); i++)
        own = own || str_eq(top_words[i], place->text);
    const char *what = own          ? "a word of the file's own"
                       : named      ? KEYWORD
                       : place->key ? NULL
                                    : peer_calls(w, place->text, place->len);

    if (what == NULL || w->rc < 0 || w->told == TOLD_MAX)
        return;
    w->told++;
    (void) breakout_set(&b, &w->run->peer, place->at, what);
    w->rc = peer_refuse(w->run, &b, w->err);
}

/* Text that names a keyword: of the file of a reactor or of states; of a pillar only in its schedule, as the
 * rest is plain data. BORROWED, or NULL. */
static const py_t *
keyword_of(const rendering_t *run, py_t *data)
{
    if (run->source->reaction || str_empty(run->source->sls))
        return run->source->reaction ? run_find_keyword(data, true) : NULL;
    if (call_is_peer(run->render->ctx))
        data = py_is(data, PY_DICT) ? py_dict_gets(data, "schedule") : NULL;
    return data != NULL ? run_find_keyword(data, false) : NULL;
}

/* First a cheap search of the parsed data; only when something was found, the text is walked to see which of
 * it is a peer's. */
int
run_check_words(rendering_t *run, py_t *data, fail_t *err)
{
    bool templates = memmem(buf_str(&run->text), run->text.len, "template", strlen("template")) != NULL;
    bool named = !str_empty(run->source->sls);
    words_t w = { .run = run, .named = named, .templates = templates, .err = err };
    int left = LIMIT_PEER_LOOK;
    breakout_t b;

    if (run->peer.n == 0)
        return 0;
    w.keyword = keyword_of(run, data);
    bool own = false;
    for (size_t i = 0; named && py_is(data, PY_DICT) && i < NELEMS(top_words); i++)
        own = own || py_dict_gets(data, top_words[i]) != NULL;
    if (w.keyword == NULL && !own && !has_call(&w, data, &left))
        return 0;
    bool read = yaml_spans_walk(buf_str(&run->text), run->text.len, &run->peer, look_at_word, &w);
    if (w.rc < 0 || (read && (w.keyword == NULL || w.told > 0)))
        return w.rc;
    /* JSON that is not YAML has no positions, and a keyword may have none: the whole text is refused. */
    (void) breakout_set(&b, &run->peer, 0, w.keyword != NULL ? KEYWORD : "perhaps a word of the file's own");
    return peer_refuse(run, &b, err);
}

/* ---- files of minions
 * ----------------------------------------------------------------------------------- */

/* A path without doubled slashes and "/./". NEW. */
static char *
short_path(const char *path)
{
    buf_auto_t out = BUF_INIT;

    for (; *path != '\0'; path++) {
        bool again = path[0] == '/' && out.len > 0 && out.data[out.len - 1] == '/';
        bool here = path[0] == '.' && (path[1] == '/' || path[1] == '\0') && out.len > 0 &&
                    out.data[out.len - 1] == '/';
        if (!again && !here)
            buf_putc(&out, *path);
    }
    return xstrdup(buf_str(&out));
}

/* True when a text contains the folder's path, or resolves to a path that does. */
static bool
peer_is_below(const py_t *v, const char *dir)
{
    if (!py_is(v, PY_STR))
        return false;
    AUTO_FREE char *path = short_path(py_cstr(v));
    AUTO_FREE char *folder = short_path(dir);
    if (strstr(path, folder) != NULL)
        return true;
    /* Links and ".." are resolved only for paths that exist. */
    AUTO_FREE char *real = path[0] == '/' ? realpath(path, NULL) : NULL;
    return real != NULL && strstr(real, folder) != NULL;
}

/* The master's cachedir, where minions' data lies; NULL when this is not a master. */
static const char *
cache_of(const render_t *self)
{
    const json_t *opts = ctx_opts(self->ctx);

    return str_eq(value_str(opts, "__role", ""), "master") ? value_str(opts, "cachedir", NULL) : NULL;
}

/* A minion's copy of what another one sent is known by its mode: the master said so when it was fetched. */
static bool
is_sent_copy(const render_t *self, const char *path)
{
    AUTO_FREE char *copies = xasprintf("%s/files/", value_str(ctx_opts(self->ctx), "cachedir", ""));
    AUTO_FREE char *folder = short_path(copies);
    AUTO_FREE char *real = realpath(path, NULL);
    struct stat st;

    return real != NULL && stat(real, &st) == 0 && S_ISREG(st.st_mode) &&
           (st.st_mode & FILES_SENT_MODE) != 0 && strstr(real, folder) != NULL;
}

bool
render_is_sent(const render_t *self, const char *path)
{
    const char *cache = cache_of(self);

    if (path == NULL)
        return false;
    if (cache == NULL)
        return is_sent_copy(self, path);
    AUTO_FREE char *sent = xasprintf("%s/minions", cache);
    AUTO_FREE char *folder = realpath(sent, NULL);
    AUTO_FREE char *real = folder != NULL ? realpath(path, NULL) : NULL;
    return real != NULL && str_starts(real, folder) && real[strlen(folder)] == '/';
}

/* Marks of the source: of a file that a minion sent all of it, else those that the caller knows. */
void
run_begin_peer(rendering_t *run)
{
    const render_source_t *s = run->source;

    if (render_is_sent(run->render, s->path)) {
        spans_add(&run->peer, 0, s->len, SPAN_TEXT);
        return;
    }
    for (size_t i = 0; s->peer != NULL && i < s->peer->n; i++)
        spans_add(&run->peer, s->peer->v[i].from, s->peer->v[i].to, s->peer->v[i].flags | SPAN_TEXT);
}

bool
render_reads_peers(const render_t *self, const py_args_t *args)
{
    const char *cache = cache_of(self);
    bool found = false;

    for (size_t i = 0; i < args->n + args->nkw && !found; i++) {
        const py_t *v = i < args->n ? args->v[i] : args->kwv[i - args->n];
        bool is_path = py_is(v, PY_STR) && *py_cstr(v) == '/';
        found = !str_empty(cache) ? peer_is_below(v, cache) : is_path && is_sent_copy(self, py_cstr(v));
    }
    return found;
}

/* ---- a second template --------------------------------------------------------------------------------- */

/* A delimiter of the syntax, or its default. */
static const char *
sign(const char *own, const char *dflt)
{
    return own != NULL ? own : dflt;
}

/* Replaces peers' parts by `peer_data__[i]` and adds that list to the context. -EINVAL when a part does not
 * fit. */
int
run_check_template(rendering_t *run, const jsyntax_t *syntax, py_t *context, fail_t *err)
{
    const char *text = buf_str(&run->text);
    buf_t out = BUF_INIT;
    breakout_t b;
    size_t at = 0;

    if (run->peer.n == 0)
        return 0;
    AUTO_FREE jspan_place_t *places = xcalloc(run->peer.n, sizeof(*places));
    bool fits = jinja_spans_fit(text, run->text.len, syntax, &run->peer, places, &b);

    /* A peer's part within a tag may be digits only: the expression's results would lose their marks. */
    for (size_t i = 0; fits && i < run->peer.n; i++) {
        const span_t *s = &run->peer.v[i];
        if (places[i] == JSPAN_TAG && strspn(text + s->from, "0123456789") < s->to - s->from)
            fits = breakout_set(&b, &run->peer, s->from, "a part of an expression");
    }
    if (!fits)
        return peer_refuse(run, &b, err);
    AUTO(py) values = py_list();
    for (size_t i = 0; i < run->peer.n; i++) {
        const span_t *s = &run->peer.v[i];
        const spans_t all = { .v = &(span_t){ 0, s->to - s->from, s->flags & SPAN_KEPT }, .n = 1 };
        py_append_new(values, py_str_spans(text + s->from, s->to - s->from, &all));
        if (places[i] != JSPAN_TEXT && places[i] != JSPAN_RAW)
            continue;
        buf_add(&out, text + at, s->from - at);

        /* Writes an expression in place of a span, so the value is printed and never parsed. Within {% raw
         * %} that block is closed and reopened around it. */
        jspan_place_t place = places[i];
        const char *open = sign(syntax->block_start, "{%"), *close = sign(syntax->block_end, "%}");
        if (place == JSPAN_RAW)
            buf_printf(&out, "%s+ endraw %s", open, close);
        buf_printf(&out, "%s peer_data__[%zu] %s", sign(syntax->variable_start, "{{"), i,
                   sign(syntax->variable_end, "}}"));
        if (place == JSPAN_RAW)
            buf_printf(&out, "%s raw %s", open, close);

        at = s->to;
    }
    buf_add(&out, text + at, run->text.len - at);
    py_dict_sets(context, "peer_data__", values);
    spans_free(&run->peer);
    buf_free(&run->text);
    run->text = out;
    return 0;
}

/* A program has no place for a value: any byte of a peer's in it is refused. */
int
run_check_program(rendering_t *run, fail_t *err)
{
    const breakout_t b = { 0, run->peer.n > 0 ? run->peer.v[0].from : 0, "a part of a program in Python" };

    return run->peer.n > 0 ? peer_refuse(run, &b, err) : 0;
}

/* ---- shells -------------------------------------------------------------------------------------------- */

/* Places already reported, by the process: once is enough, however often a file is rendered. */
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static map_t *places;

typedef struct shells {
    rendering_t *run;
    int told;
} shells_t;

static void
peer_look_at(void *cookie, const yaml_span_place_t *place)
{
    shells_t *self = cookie;
    rendering_t *run = self->run;
    bool command = false;

    /* A key names a function of `cmd`: local.cmd.run, cmd.script. Below salt.function the function's name is
     * a value elsewhere, so it is assumed to be `cmd` when the file mentions any. */
    for (size_t i = 0; i < place->depth; i++) {
        const char *key = place->path[i], *at = strstr(key, "cmd.");
        command = command || (at != NULL && (at == key || at[-1] == '.')) || str_eq(key, "salt.function");
    }
    if (!command || place->quoted || place->key || self->told == TOLD_MAX)
        return;
    self->told++;
    int line = peer_line_of(run, place->at), made = 0;
    AUTO_FREE char *file = run_place(run, line, &made);
    AUTO_FREE char *where = xasprintf("%s, line %d", file != NULL ? file : "a text without a file",
                                      made > 0 ? made : line);

    static char there;

    pthread_mutex_lock(&places_lock);
    if (places == NULL)
        places = map_new(NULL);
    bool known = map_get(places, where) != NULL;
    if (!known && map_len(places) < PLACES_MAX)
        map_set(places, where, &there);
    pthread_mutex_unlock(&places_lock);
    if (!known)
        log_warning("%s: a value that a peer said is part of a command and may end one and begin another; "
                    "write {{ ... | "
                    "quote }} where it stands",
                    where);
}

/* Warns about peers' values, unquoted, in arguments of shell commands. A cheap search for "cmd." comes first.
 */
void
run_look_for_shells(rendering_t *run)
{
    const char *text = buf_str(&run->text);
    shells_t self = { .run = run };

    if (run->peer.n > 0 && memmem(text, run->text.len, "cmd.", 4) != NULL)
        (void) yaml_spans_walk(text, run->text.len, &run->peer, peer_look_at, &self);
}
