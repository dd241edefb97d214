/* test_hostile.c - every place where a name from a peer becomes a path, on either side: ten thousand names
 * each, and nothing outside the place's folder is read, made or changed.
 *
 * Whoever adds such a place adds a row here; tests/lint/paths.sh knows the files that may open paths at all.
 */
#include <poll.h>

#include "common/crypto/tag.h"
#include "common/files/extmods.h"
#include "common/files/fileclient.h"
#include "common/files/fileserver.h"
#include "common/files/putfile.h"
#include "common/net/wire.h"
#include "common/plugin/call.h"
#include "common/state/run.h"
#include "master/files/files.h"
#include "keyring/keystore.h"
#include "master/keys/autosign.h"
#include "plugins/wheel/lib/roots.h"
#include "uplink/download.h"
#include "minion/jobs/jobcache.h"
#include "plugins/lib/transfer/fetch.h"
#include "uplink/spool.h"
#include "runners/lib/bank.h"
#include "salt/log.h"
#include "salt/value.h"
#include "unit/hostile.h"
#include "unit/refused.h"

/* What a place needs besides names. */
typedef struct fixture {
    hostile_t *h;
    json_t *opts;
    call_ctx_t *ctx;
    fileclient_t *client;
    fileserver_t *server;
    keystore_t *keys;
    files_t *files;
    spool_t *spool;
    downloads_t *downloads;
    json_t *asked; /* by `downloads`, last */
} fixture_t;

static void
not_secret(const char *text)
{
    assert_null(text != NULL ? strstr(text, HOSTILE_SECRET) : NULL);
}

static void
not_secret_json(json_t *v)
{
    AUTO_FREE char *text = v != NULL ? value_dump(v) : NULL;

    not_secret(text);
    json_decref(v);
}

/* Text as a peer's message can say it. NEW. */
static json_t *
said(const char *name)
{
    return value_utf8(name, strlen(name));
}

/* ---- the master ------------------------------------------------------------------------------------------
 */

static void
at_keystore(fixture_t *f, const char *name)
{
    static const uint8_t key[KEY_BYTES] = { 1, 2, 3 };
    uint8_t out[KEY_BYTES];
    AUTO_FREE char *pem = keystore_pem(f->keys, name, KEY_ACCEPTED, NULL);

    not_secret(pem);
    (void) keystore_put(f->keys, name, KEY_PENDING, key, NULL);
    (void) keystore_get(f->keys, name, KEY_PENDING, out, NULL);
    key_state_t state;
    (void) keystore_state(f->keys, name, &state, NULL);
    (void) keystore_move(f->keys, name, KEY_PENDING, KEY_ACCEPTED, NULL);
    (void) keystore_delete(f->keys, name, KEY_ACCEPTED, NULL);
    (void) keystore_take_autosign(f->h->root, name, 0);
}

static minion_t web1 = { .id = (char[]){ "web1" } };
static peer_t peer = { .rid = { 0, 1, 2, 3, 4 }, .rid_len = 5, .minion = &web1 };

/* The next message of the file workers. NEW. */
static json_t *
next(files_t *files)
{
    struct pollfd pfd = { files_fd(files), POLLIN, 0 };
    files_out_t *out;
    json_t *body = NULL;
    wire_msg_t msg;

    while ((out = files_next(files)) == NULL)
        assert_int_equal(poll(&pfd, 1, 30000), 1);
    assert_int_equal(wire_decode(out->data, out->len, WIRE_DOWN, ' ', &msg, &body, NULL), 0);
    files_out_free(out);
    return body;
}

static json_t *
ask_files(fixture_t *f, const char *op, const char *name, const char *saltenv)
{
    static json_int_t n;
    char key[TAG_KEY_HEX + 1];

    tag_key(key);
    json_auto_t *body = json_pack("{s:I, s:s, s:o, s:o, s:s, s:i, s:i}", "n", ++n, "op", op, "path",
                                  said(name), "saltenv", said(saltenv), "key", key, "size", 1, "credit", 0);
    files_open(f->files, &peer, body);
    json_t *answer = next(f->files);
    json_auto_t *which = json_pack("{s:I}", "n", n);
    if (value_get(answer, "error") != NULL)
        return answer;
    if (strcmp(op, "put") == 0) {
        json_auto_t *part = json_pack("{s:I, s:i}", "n", n, "at", 0);
        json_auto_t *done = json_pack("{s:I, s:s}", "n", n, "tag",
                                      "00"); /* a wrong one: it is removed again */
        files_part(f->files, &peer, part, "x", 1);
        files_done(f->files, &peer, done);
        json_decref(next(f->files));
    }
    files_stop(f->files, &peer, which);
    return answer;
}

static void
at_push(fixture_t *f, const char *name)
{
    json_decref(ask_files(f, "put", name, "base"));
}

static void
at_served(fixture_t *f, const char *name)
{
    json_auto_t *path = ask_files(f, "get", name, "base"), *env = ask_files(f, "get", "secret", name);
    json_auto_t *hash = ask_files(f, "hash", name, "base");

    assert_true(value_int(path, "size", 0) != sizeof(HOSTILE_SECRET) - 1);
    assert_true(value_int(env, "size", 0) != sizeof(HOSTILE_SECRET) - 1);
    assert_true(value_int(hash, "size", 0) != sizeof(HOSTILE_SECRET) - 1);
}

static void
at_roots(fixture_t *f, const char *name)
{
    served_auto_t file = SERVED_INIT;
    char bytes[sizeof(HOSTILE_SECRET)] = "";

    if (fileserver_find(f->server, name, "base", &file, NULL) == 0)
        (void) !pread(file.fd, bytes, sizeof(bytes) - 1, 0);
    not_secret(bytes);
    not_secret_json(fileserver_list(f->server, FILES_FILES, name, name, NULL));
}

static void
at_wheel(fixture_t *f, const char *name)
{
    json_auto_t *args = json_pack("{s:o, s:s, s:s}", "path", said(name), "data", "x", "saltenv", "base");
    json_t *read = NULL, *found = NULL, *written = NULL;

    (void) roots_read(f->ctx, "file_roots", args, &read, NULL);
    (void) roots_find(f->ctx, "file_roots", args, &found, NULL);
    (void) roots_write(f->ctx, "file_roots", args, &written, NULL);
    not_secret_json(read);
    not_secret_json(found);
    not_secret_json(written);
}

static void
at_bank(fixture_t *f, const char *name)
{
    json_auto_t *data = json_string("x");
    const char *dir = f->h->root;

    (void) bank_store(dir, name, "key", data, NULL);
    (void) bank_store(dir, "bank", name, data, NULL);
    not_secret_json(bank_fetch(dir, name, "secret", NULL));
    not_secret_json(bank_fetch(dir, "bank", name, NULL));
    not_secret_json(bank_list(dir, name, NULL));
    (void) bank_flush(dir, "bank", name, NULL);
    (void) bank_flush(dir, name, NULL, NULL);
}

/* ---- the minion ------------------------------------------------------------------------------------------
 */

static int
sent(void *cookie, wire_msg_t msg, const json_t *body, const void *bytes, size_t n)
{
    fixture_t *f = cookie;

    if (msg == MSG_file_open) {
        json_decref(f->asked);
        f->asked = json_deep_copy(body);
    }
    return 0;
}

static void
answered(void *cookie, json_int_t id, json_t *answer)
{
}

static void
tell(fixture_t *f, wire_msg_t msg, json_t *body, const char *bytes)
{
    json_auto_t *held = body;

    json_object_set(held, "n", value_get(f->asked, "n"));
    downloads_message(f->downloads, msg, held, bytes, bytes != NULL ? strlen(bytes) : 0);
}

static void
fetch_one(fixture_t *f, const char *path, const char *saltenv)
{
    json_auto_t *ask = json_pack("{s:s, s:o, s:o, s:s}", "op", "get", "path", said(path), "saltenv",
                                 said(saltenv), "cache", f->h->root);

    downloads_ask(f->downloads, 1, ask);
    (void) downloads_step(f->downloads);
    tell(f, MSG_file_info, json_pack("{s:i, s:i}", "size", 4, "at", 0), NULL);
    tell(f, MSG_file_data, json_pack("{s:i}", "at", 0), "evil");
    tell(f, MSG_file_end, json_object(), NULL);
    downloads_cancel(f->downloads, 1);
}

static void
at_cache(fixture_t *f, const char *name)
{
    char *place = NULL;
    AUTO_FD dir = -1;

    fetch_one(f, name, "base");
    fetch_one(f, "f", name);
    (void) putfile_cache_folder(f->h->root, "base", name, &dir, &place, NULL);
    free(place);
}

/* A file server that lists what it is told, and gives it. */
static char listed[HOSTILE_LEN];

static json_t *
s_list(void *self, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    json_t *name = said(listed), *below = value_fmt("_modules/%s.py", json_string_value(name)), *out;

    if (kind != FILES_SYMLINKS)
        return json_pack("[o, o]", name, below);
    out = json_object();
    json_object_set_new(out, json_string_value(name), json_string(".."));
    json_decref(name);
    json_decref(below);
    return out;
}

/* Its own file, whatever is asked for. */
static int
s_cache(void *self, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    *ret_local = fs_join(self, "given");
    return 0;
}

static const fileclient_class_t lister = { .cache = s_cache, .list = s_list };

static bool
stays(const char *path)
{
    char **parts = str_split(path, "/", false);
    bool up = false;

    for (size_t i = 0; parts[i] != NULL; i++)
        up = up || str_eq(parts[i], "..");
    strv_free(parts);
    return !up && path[0] != '/';
}

static void
at_list(fixture_t *f, const char *name)
{
    static const files_kind_t kinds[] = { FILES_FILES, FILES_SYMLINKS };
    const char *key;
    json_t *v;
    size_t i;

    str_copy(listed, sizeof(listed), name);
    for (size_t k = 0; k < NELEMS(kinds); k++) {
        json_auto_t *names = fileclient_list(f->client, kinds[k], "base", "", NULL);
        json_array_foreach (names, i, v)
            assert_true(stays(json_string_value(v)));
        json_object_foreach (names, key, v)
            assert_true(stays(key));
    }
}

static void
at_extmods(fixture_t *f, const char *name)
{
    json_auto_t *envs = json_pack("[s]", "base");
    const extmods_t what = { .form = "modules", .envs = envs };

    str_copy(listed, sizeof(listed), name);
    json_decref(extmods_sync(f->ctx, &what));
}

static void
at_jid(fixture_t *f, const char *name)
{
    json_auto_t *job = json_pack("{s:o, s:s}", "jid", said(name), "return", "x");
    json_auto_t *pause = json_pack("{s:{}}", "__all__");
    fail_auto_t err = FAIL_INIT;
    size_t size;

    json_t *value = json_incref(job);
    AUTO(jobret) ret = jobret_make(&value);
    jobcache_keep(f->opts, ret);
    (void) spool_begin(f->spool, job, NULL);
    (void) spool_end(f->spool, ret, NULL, NULL);
    AUTO_FREE char *asker = NULL;
    not_secret_json(spool_load(f->spool, name, &asker, &size, &err));
    spool_forget(f->spool, name);
    (void) state_pauses_set(f->h->root, name, pause, NULL);
    not_secret_json(state_pauses(f->h->root, name, NULL));
}

static void
at_url(fixture_t *f, const char *name)
{
    AUTO_FREE char *url = xasprintf("http://host/%s", name), *base = fs_join(f->h->root, "extrn_files/");
    AUTO_FREE char *one = fetch_extern_place(f->ctx, url, "base"),
                   *env = fetch_extern_place(f->ctx, "http://h/x", name);
    AUTO_FREE char *whole = fetch_extern_place(f->ctx, name, "base");
    const char *const places[] = { one, env, whole };

    for (size_t i = 0; i < NELEMS(places); i++) {
        if (strcmp(places[i], "Invalid path") == 0)
            continue;
        assert_true(str_starts(places[i], base));
        const char *rest = places[i] + strlen(base);
        assert_true(stays(rest + strspn(rest, "/")));
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------
 */

static const struct {
    const char *name, *below; /* what makes paths of names, and the folder that they are below */
    void (*at)(fixture_t *f, const char *name);
} places[] = {
    { "keystore", "minions", at_keystore },
    { "cp.push", "minions/web1/files", at_push },
    { "file server, from the wire", "roots", at_served },
    { "file server", "roots", at_roots },
    { "file_roots.write", "roots", at_wheel },
    { "cache banks", "banks", at_bank },
    { "the minion's cache", "files/base", at_cache },
    { "the file server's lists", "roots", at_list },
    { "custom modules", "extmods/modules", at_extmods },
    { "job ids", "spool", at_jid },
    { "URLs", "extrn_files", at_url },
};

static void
open_fixture(fixture_t *f, const char *below)
{
    const download_host_t host = { sent, answered, f };

    f->h = hostile_new(below);
    AUTO_FREE char *roots = fs_join(f->h->root, "roots"), *spool = fs_join(f->h->root, "spool");
    AUTO_FREE char *pauses = fs_join(f->h->root, "state_pause");
    AUTO_FREE char *bytecode = fs_join(f->h->root,
                                       "python"); /* of the interpreter that looks at synced modules */
    assert_int_equal(
        fs_mkdirs(roots, 0755, NULL) | fs_mkdirs(pauses, 0755, NULL) | fs_mkdirs(bytecode, 0755, NULL), 0);
    f->opts = json_pack("{s:s, s:{s:[s]}, s:b, s:b, s:i, s:b, s:s}", "cachedir", f->h->root, "file_roots",
                        "base", roots, "fileserver_followsymlinks", 0, "file_recv", 1, "file_recv_max_size",
                        1, "cache_jobs", 1, "hash_type", "md5");
    hostile_put(f->h->root, "given", "x");
    f->client = fileclient_new(&lister, f->h->root);
    f->ctx = call_ctx_new(&(call_env_t){ .opts = f->opts, .files = f->client });
    f->server = fileserver_new(f->opts, NULL);
    f->keys = keystore_new(f->h->root, NULL);
    f->files = files_new(f->opts, NULL);
    f->spool = spool_new(spool, NULL);
    f->downloads = downloads_new(&host);
    downloads_ready(f->downloads);
    assert_true(f->keys != NULL && f->files != NULL && f->spool != NULL);
    char events[4096];
    while (read(f->h->watch, events, sizeof(events)) > 0) /* what we made there ourselves */
        continue;
}

static void
close_fixture(fixture_t *f)
{
    downloads_destroy(&f->downloads);
    json_decref(f->asked);
    spool_destroy(&f->spool);
    assert_true(files_destroy(&f->files));
    keystore_destroy(&f->keys);
    fileserver_destroy(&f->server);
    call_ctx_destroy(&f->ctx);
    fileclient_destroy(&f->client);
    json_decref(f->opts);
    hostile_free(f->h);
}

static void
test_places(void **state)
{
    int names = hostile_names();
    log_console(LEVEL_QUIET);
    for (size_t i = 0; i < NELEMS(places); i++) {
        fixture_t f = { 0 };
        open_fixture(&f, places[i].below);
        for (int k = 0; k < names; k++) {
            places[i].at(&f, hostile_next(f.h));
            hostile_audit(f.h, places[i].name);
            if (k % 64 == 0)
                hostile_furnish(f.h);
        }
        close_fixture(&f);
        print_message("# %s: %d names\n", places[i].name, names);
    }
}

UNIT_MAIN(cmocka_unit_test(test_places), cmocka_unit_test(without_openat2))
