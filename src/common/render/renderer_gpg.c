/* renderer_gpg.c - the renderer `gpg`: decrypts PGP messages in texts and data with the system's gpg.
 *
 * Each "-----BEGIN PGP MESSAGE-----" block is replaced by its plain text, one gpg process a message. Messages
 * that a peer has a part in are never decrypted: a minion could otherwise have ciphertexts of others opened.
 */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/proc.h"
#include "common/py/py_peer.h"
#include "common/render/render_int.h"
#include "salt/limits.h"
#include "salt/log.h"

static const char begin_mark[] = "-----BEGIN PGP MESSAGE-----";
static const char end_mark[] = "-----END PGP MESSAGE-----";

typedef struct gpg {
    call_ctx_t *ctx;        /* BORROWED */
    char *program, *keydir; /* owned */
    bool must_succeed, translate_newlines;
} gpg_t;

/* Peers' parts of a text, and of its decrypted form. */
typedef struct marks {
    const spans_t *before;
    spans_t after;
} marks_t;

/* ---- set-up ------------------------------------------------------------------------------------------- */

/* Directory of keys: gpg_keydir by config.get, else "gpgkeys" beside the configuration. NEW. */
static char *
key_dir(call_ctx_t *ctx)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *args = json_pack("[s]", "gpg_keydir");
    json_auto_t *found = NULL;

    if (ctx_has(ctx, "config.get") && ctx_call(ctx, "config.get", args, NULL, &found, &err) == 0 &&
        json_is_string(found) && json_string_length(found) > 0)
        return xstrdup(json_string_value(found));
    const char *given = value_str(ctx_opts(ctx), "gpg_keydir", "");
    if (given[0] != '\0')
        return xstrdup(given);
    const char *conf = value_str(ctx_opts(ctx), "conf_file", "/etc/salt/minion");
    const char *slash = strrchr(conf, '/');
    AUTO_FREE char *beside = slash != NULL ? xstrndup(conf, (size_t) (slash - conf)) : xstrdup(".");
    return fs_join(value_str(ctx_opts(ctx), "config_dir", beside), "gpgkeys");
}

/* True for gpg's lock file ".#lkNUMBER.HOST.PID" when no process of this host holds it. */
static bool
is_stale_lock(const char *name, const char *host)
{
    const char *pid = strrchr(name, '.'), *at = strchr(name + 2, '.');
    size_t len = strlen(host);
    char *end;

    if (!str_starts(name, ".#lk") || at == NULL || pid != at + 1 + len || strncmp(at + 1, host, len) != 0)
        return false;
    long n = strtol(pid + 1, &end, 10);
    return n > 0 && n <= INT_MAX && (*end == '\0' || str_eq(end, "x")) && kill((pid_t) n, 0) < 0 &&
           errno == ESRCH;
}

/* -ENOENT when there is no gpg. Call gpg_free in any case. */
static int
gpg_init(gpg_t *g, call_ctx_t *ctx, fail_t *err)
{
    *g = (gpg_t){ .ctx = ctx,
                  .program = fs_which("gpg"),
                  .must_succeed = value_bool(ctx_opts(ctx), "gpg_decrypt_must_succeed", true) };
    if (g->program == NULL) {
        call_note(ctx, "gpg");
        return fail_set(err, -ENOENT, "GPG unavailable: install the program gpg");
    }
    g->keydir = key_dir(ctx);
    log_debug("Reading GPG keys from: %s", g->keydir);

    /* Removes what gpg processes that were killed have left in the folder of keys; gpg itself never
     * does. */
    char host[HOST_NAME_MAX + 1] = "";
    DIR *dir = gethostname(host, sizeof(host) - 1) == 0 ? opendir(g->keydir) : NULL;
    int rc = 0;

    if (dir != NULL) {
        for (const struct dirent *e; (e = fs_next(dir, &rc)) != NULL;) {
            if (is_stale_lock(e->d_name, host))
                (void) unlinkat(dirfd(dir), e->d_name, 0);
        }
        (void) closedir(dir);
    }

    return 0;
}

static void
gpg_free(gpg_t *g)
{
    free(g->program);
    free(g->keydir);
}

/* ---- one message -------------------------------------------------------------------------------------- */

/* Python's repr() of bytes, as Salt's messages show ciphertexts and gpg's words. NEW. */
static char *
renderer_gpg_repr_bytes(const char *bytes, size_t len)
{
    AUTO(py) v = py_bytes(bytes, len);
    AUTO(py) text = py_repr(v);

    return xstrdup(text != NULL ? py_cstr(text) : "");
}

/* Appends `text`, which may hold NUL, with a line break for each "\n" (backslash, n) in it. */
static void
add_broken(buf_t *out, const char *text, size_t len)
{
    const char *end = text + len, *hit;

    for (; (hit = memmem(text, (size_t) (end - text), "\\n", 2)) != NULL; text = hit + 2) {
        buf_add(out, text, (size_t) (hit - text));
        buf_putc(out, '\n');
    }
    buf_add(out, text, (size_t) (end - text));
}

static int
decrypt_message(const gpg_t *g, const char *text, size_t len, buf_t *out, fail_t *err)
{
    buf_auto_t cipher = BUF_INIT;
    char *argv[] = { g->program,   (char *) "--homedir", g->keydir,     (char *) "--status-fd",
                     (char *) "2", (char *) "--no-tty",  (char *) "-d", NULL };
    proc_spec_t spec = PROC_SPEC_INIT;
    proc_result_t res = { .out = BUF_INIT };

    add_broken(&cipher, text, len);
    spec.argv = argv;
    spec.in = buf_str(&cipher);
    spec.in_len = cipher.len;
    spec.timeout_ms = LIMIT_TEMPLATE_TIME;
    int rc = proc_run(&spec, &res, err);
    /* A failure may pass once the key is installed, so the result must not be cached. */
    if (rc < 0 || res.timed_out || res.out.len == 0)
        call_note(g->ctx, "gpg");
    if (rc == 0 && res.timed_out)
        rc = fail_set(err, -ETIMEDOUT, "gpg did not end within %d s", LIMIT_TEMPLATE_TIME / 1000);
    else if (rc == 0 && res.out.len == 0) {
        /* The ciphertext stays where gpg_decrypt_must_succeed is off. */
        AUTO_FREE char *message = renderer_gpg_repr_bytes(buf_str(&cipher), cipher.len);
        AUTO_FREE char *said = renderer_gpg_repr_bytes(buf_str(&res.errs), res.errs.len);
        log_warning("Could not decrypt cipher %s, received: %s", message, said);
        if (g->must_succeed)
            rc = fail_set(err, -EBADMSG, "Could not decrypt cipher %s, received: %s", message, said);
        else
            buf_add(out, buf_str(&cipher), cipher.len);
    } else if (rc == 0)
        buf_add(out, buf_str(&res.out), res.out.len);
    proc_result_free(&res);
    return rc;
}

/* ---- texts and data ----------------------------------------------------------------------------------- */

/* Number of peers' spans within [from, to); copies them, moved to offset `at` of the output, unless `at` is
 * SIZE_MAX. */
static size_t
keep_marks(marks_t *marks, size_t from, size_t to, size_t at)
{
    size_t n = 0;

    for (size_t i = 0; marks != NULL && i < marks->before->n; i++) {
        const span_t *s = &marks->before->v[i];
        size_t start = s->from > from ? s->from : from, end = s->to < to ? s->to : to;
        if (start >= end)
            continue;
        n++;
        if (at != SIZE_MAX)
            spans_add(&marks->after, at + start - from, at + end - from, s->flags);
    }
    return n;
}

/* Decrypts the messages in `text` except those with a peer's part. 1 when one was decrypted, 0 when none, or
 * a negative errno. `marks` may be NULL. As in Salt, newlines at the end are then removed. */
static int
decrypt_text(const gpg_t *g, const char *text, size_t len, marks_t *marks, buf_t *out, fail_t *err)
{
    const char *at = text, *end = text + len, *from;
    int rc = 0;

    while ((from = memmem(at, (size_t) (end - at), begin_mark, strlen(begin_mark))) != NULL) {
        const char *stop = memmem(from, (size_t) (end - from), end_mark, strlen(end_mark));
        if (stop == NULL)
            break;
        stop += strlen(end_mark);
        bool peer = keep_marks(marks, (size_t) (from - text), (size_t) (stop - text), SIZE_MAX) > 0;
        const char *plain = peer ? stop : from;
        (void) keep_marks(marks, (size_t) (at - text), (size_t) (plain - text), out->len);
        buf_add(out, at, (size_t) (plain - at));
        if (!peer && (rc = decrypt_message(g, from, (size_t) (stop - from), out, err)) < 0)
            return rc;
        at = stop;
        rc = !peer || rc == 1;
    }
    (void) keep_marks(marks, (size_t) (at - text), len, out->len);
    buf_add(out, at, (size_t) (end - at));
    while (rc == 1 && out->len > 0 && out->data[out->len - 1] == '\n')
        out->data[--out->len] = '\0';
    return rc;
}

/* Marks of the output, cut to its final length. Ends `marks`. */
static void
clip_marks(marks_t *marks, size_t len, spans_t *ret)
{
    for (size_t i = 0; i < marks->after.n; i++) {
        const span_t *s = &marks->after.v[i];
        if (s->from < len)
            spans_add(ret, s->from, s->to < len ? s->to : len, s->flags);
    }
    spans_free(&marks->after);
}

/* A str when the bytes are UTF-8, else bytes. */
static py_t *
text_or_bytes(const buf_t *b)
{
    AUTO(py) text = py_str_utf8(buf_str(b), b->len);
    size_t len;
    const char *same = py_text(text, &len);

    if (len == b->len && memcmp(same, buf_str(b), len) == 0)
        return STEAL(text);
    return py_bytes(buf_str(b), b->len);
}

/* Decrypts a str with peers' parts: its own messages stay closed, and written line breaks stay as they are.
 */
static py_t *
decrypt_said(const gpg_t *g, py_t *v, fail_t *err)
{
    spans_auto_t before = SPANS_INIT;
    marks_t marks = { .before = &before };
    buf_auto_t out = BUF_INIT;
    size_t len;
    const char *text = py_text(v, &len);

    py_peer_spans(v, &before);
    int rc = decrypt_text(g, text, len, &marks, &out, err);
    py_t *plain = rc == 0 ? py_ref(v) : rc > 0 ? text_or_bytes(&out) : NULL;
    spans_auto_t after = SPANS_INIT;
    clip_marks(&marks, out.len, &after);
    if (rc <= 0 || after.n == 0)
        return plain;
    AUTO(py) bare = plain;
    text = py_text(bare, &len);
    return py_is(bare, PY_STR) ? py_str_spans(text, len, &after) : py_peer(STEAL(bare), 0);
}

/* Decrypts all texts below `v`, containers in place. NEW reference, or NULL with *err. */
static py_t *
decrypt_value(const gpg_t *g, py_t *v, fail_t *err)
{
    if (py_is(v, PY_STR) || py_is(v, PY_BYTES)) {
        /* Decrypts every message in the text. */
        size_t len;
        const char *text = py_text(v, &len);
        buf_auto_t broken = BUF_INIT, out = BUF_INIT;
        if (py_is_peer(v))
            return decrypt_said(g, v, err);
        if (memmem(text, len, begin_mark, strlen(begin_mark)) == NULL && !g->translate_newlines)
            return py_ref(v);
        if (g->translate_newlines)
            add_broken(&broken, text, len);
        else
            buf_add(&broken, text, len);
        int rc = decrypt_text(g, buf_str(&broken), broken.len, NULL, &out, err);
        if (rc < 0)
            return NULL;
        /* a replaced line break shortens the text */
        bool same = rc == 0 && broken.len == len;
        return same && py_is(v, PY_STR) ? py_ref(v) : text_or_bytes(&out);
    }
    if (!py_is(v, PY_DICT) && !py_is(v, PY_LIST))
        return py_ref(v);
    if (py_enter() < 0) {
        (void) fail_set(err, -ELOOP, "%s", py_raised_text());
        return NULL;
    }

    int rc = 0;
    AUTO(py) keys = py_is(v, PY_DICT) ? py_tolist(v) : py_list();
    size_t n = py_is(v, PY_DICT) ? py_seq_len(keys) : py_seq_len(v);

    for (size_t i = 0; i < n; i++) {
        AUTO(py) key = py_is(v, PY_DICT) ? py_ref(py_seq_at(keys, i)) : py_int((int64_t) i);
        AUTO(py) old = py_getitem(v, key);
        AUTO(py) value = old != NULL ? decrypt_value(g, old, err) : NULL;
        if (value == NULL || py_setitem(v, key, value) < 0) {
            rc = -EINVAL;
            break;
        }
    }

    py_leave();
    return rc == 0 ? py_ref(v) : NULL;
}

/* ---- the renderer ------------------------------------------------------------------------------------- */

int
render_gpg(rendering_t *run, const char *argline, fail_t *err)
{
    gpg_t g;
    int rc = gpg_init(&g, run->render->ctx, err);

    if (rc == 0 && run->is_data) {
        AUTO(py) same = decrypt_value(&g, run->data, err);
        rc = same != NULL ? 0 : -EINVAL;
    } else if (rc == 0) {
        buf_t out = BUF_INIT;
        marks_t marks = { .before = &run->peer };
        rc = decrypt_text(&g, buf_str(&run->text), run->text.len, &marks, &out, err);
        buf_free(&run->text);
        run->text = out;
        spans_t kept = SPANS_INIT;
        clip_marks(&marks, run->text.len, &kept);
        spans_free(&run->peer);
        run->peer = kept;
        rc = rc > 0 ? 0 : rc;
    }
    gpg_free(&g);
    return rc;
}

/* decrypt_pillar's way in: a value instead of a run, with "\n" in the text read as a line break. */
py_t *
render_decrypt(render_t *self, const char *renderer, py_t *v, fail_t *err)
{
    gpg_t g;
    py_t *same = NULL;

    if (strcmp(renderer, "gpg") != 0) {
        (void) fail_set(err, -EINVAL, "the renderer '%s' does not decrypt; there is gpg", renderer);
        return NULL;
    }
    if (gpg_init(&g, self->ctx, err) == 0) {
        g.translate_newlines = true;
        same = decrypt_value(&g, v, err);
    }
    gpg_free(&g);
    return same;
}
