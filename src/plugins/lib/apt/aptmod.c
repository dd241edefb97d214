/* aptmod.c - pkg.mod_repo: adds a source or changes one, its key first. The sources of all files are loaded
 * (aptsources.h), the entry that is meant is found by type, address and suite, changed member by member, and
 * the files are written back. PPAs go through apt-add-repository where it exists. */
#include <strings.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/apt/aptrepo.h"

typedef struct mod {
    call_ctx_t *ctx;
    const char *repo; /* as the user wrote it, or what a PPA stands for. BORROWED */
    const char *saltenv;
    json_t *kwargs; /* our own copy: a PPA adds to it */
    bool aptkey;
    apt_source_t *wanted; /* what `repo` says */
} mod_t;

/* ---- keys ---------------------------------------------------------------------------------- */

/* NEW folder of the signed-by file. */
static char *
key_folder(const mod_t *m)
{
    const char *slash = strrchr(m->wanted->signedby, '/');

    return slash != NULL ? xstrndup(m->wanted->signedby, (size_t) (slash - m->wanted->signedby))
                         : xstrdup(".");
}

/* The last part of the signed-by path. */
static const char *
key_name(const mod_t *m)
{
    const char *slash = strrchr(m->wanted->signedby, '/');

    return slash != NULL ? slash + 1 : m->wanted->signedby;
}

/* The minion's proxy with its login, or NULL. NEW; secret. */
static char *
proxy_url(call_ctx_t *ctx)
{
    const json_t *opts = ctx_opts(ctx);
    const char *host = value_str(opts, "proxy_host", ""), *user = value_str(opts, "proxy_username", "");
    const char *word = value_str(opts, "proxy_password", "");
    json_int_t port = value_int(opts, "proxy_port", 0);

    if (*host == '\0' || port == 0)
        return NULL;
    if (*user != '\0' && *word != '\0')
        return xasprintf("http://%s:%s@%s:%lld", user, word, host, (long long) port);
    return xasprintf("http://%s:%lld", host, (long long) port);
}

/* Run gpg or apt-key, up to NULL. */
static int __attribute__((sentinel)) key_step(const mod_t *m, fail_t *err, ...)
{
    prog_auto_t prog = PROG_INIT;
    const char *word;
    va_list ap;

    apt_prog(m->ctx, &prog, false);
    va_start(ap, err);
    while ((word = va_arg(ap, const char *)) != NULL)
        prog_add(&prog, word);
    va_end(ap);
    json_auto_t *out = apt_run(&prog, err);
    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) == 0)
        return 0;
    const char *text = value_str(out, "stdout", "");
    return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Error: key retrieval failed: %s",
                     *text != '\0' ? text : value_str(out, "stderr", ""));
}

/* apt-key has its options from the command line alone, where anybody could read the proxy's password: gpg has
 * them from its own file, and apt-key adds what it got. */
static int
receive_by_gpg(const mod_t *m, const char *proxy, const char *keyserver, const char *key, fail_t *err)
{
    AUTO_FREE char *home = xasprintf("%s/halite-gpg-XXXXXX", fs_temp_dir());
    AUTO_FREE char *line = xasprintf("keyserver-options http-proxy=%s\n", proxy);

    if (strpbrk(proxy, "\r\n") != NULL)
        return fail_set(err, -EINVAL, "proxy_username and proxy_password are one line each");
    if (mkdtemp(home) == NULL)
        return fail_set(err, -errno, "%s: %s", home, strerror(errno));
    AUTO_FREE char *conf = fs_join(home, "gpg.conf"), *got = fs_join(home, "got.gpg");
    int rc = fs_write_atomic(conf, line, strlen(line), 0600, err);
    if (rc >= 0)
        rc = key_step(m, err, "gpg", "--homedir", home, "--batch", "--keyserver", keyserver, "--logger-fd",
                      "1", "--recv-keys", key, NULL);
    if (rc >= 0)
        rc = key_step(m, err, "gpg", "--homedir", home, "--batch", "--output", got, "--export", key, NULL);
    if (rc >= 0)
        rc = key_step(m, err, "apt-key", "add", got, NULL);
    (void) fs_remove_tree(home, NULL);
    return rc < 0 ? rc : 0;
}

/* Fetches a key with apt-key unless it is there already. */
static int
receive_by_apt_key(const mod_t *m, const char *keyserver, const char *key, fail_t *err)
{
    AUTO_FREE char *proxy = proxy_url(m->ctx);
    json_auto_t *have = apt_output(m->ctx, err, "apt-key", "export", key, NULL);

    if (have == NULL)
        return err->code;
    if (str_starts(value_str(have, "stdout", ""), "-----BEGIN PGP"))
        return 0;
    if (proxy == NULL || value_lists(value_get(ctx_opts(m->ctx), "no_proxy"), keyserver))
        return key_step(m, err, "apt-key", "adv", "--batch", "--keyserver", keyserver, "--logger-fd", "1",
                        "--recv-keys", key, NULL);
    if (strchr(proxy, '@') != NULL)
        return receive_by_gpg(m, proxy, keyserver, key, err);
    AUTO_FREE char *option = xasprintf("http-proxy=%s", proxy);
    return key_step(m, err, "apt-key", "adv", "--batch", "--keyserver-options", option, "--keyserver",
                    keyserver, "--logger-fd", "1", "--recv-keys", key, NULL);
}

/* A source whose key is not there must not be written: 0 of apt_add_key is an error here. */
static int
key_added(int rc, const char *key, fail_t *err)
{
    return rc == 0 ? fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Error: Could not add key: %s", key) : rc;
}

/* Fetches a key from a keyserver into apt-key's ring or the signed-by file. */
static int
aptmod_receive(const mod_t *m, const char *keyserver, const char *key, fail_t *err)
{
    if (m->aptkey)
        return receive_by_apt_key(m, keyserver, key, err);
    AUTO_FREE char *folder = key_folder(m);
    apt_key_t wanted = { .keyid = key,
                         .keyserver = keyserver,
                         .keydir = folder,
                         .saltenv = "base",
                         .keyfile = m->wanted->signedby };
    return key_added(apt_add_key(m->ctx, &wanted, err), key, err);
}

/* Fetches each of `keyid`. YAML may have made a number of an id, which is written in hexadecimal then. */
static int
keys_by_id(const mod_t *m, fail_t *err)
{
    const json_t *ids = value_get(m->kwargs, "keyid");
    const char *keyserver = value_str(m->kwargs, "keyserver", "");
    json_auto_t *one = json_pack("[O]", ids);
    json_t *id;
    size_t i;

    if (!value_truthy(ids) || *keyserver == '\0')
        return fail_set(err, -EINVAL, "both keyserver and keyid options required.");
    json_array_foreach (json_is_array(ids) ? ids : one, i, id) {
        AUTO_FREE char *key = json_is_integer(id) ? xasprintf("0x%llx", (long long) json_integer_value(id))
                                                  : value_pystr(id);
        int rc = prog_check_operand("keyid", key, err);
        if (rc == 0)
            rc = aptmod_receive(m, keyserver, key, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* apt-key says "OK" and nothing else of its result. */
static int
key_by_url(const mod_t *m, fail_t *err)
{
    const char *url = value_str(m->kwargs, "key_url", "");
    AUTO_FREE char *path = pkg_cache_file(m->ctx, url, m->saltenv, err);

    if (path == NULL)
        return err->code;
    if (*path == '\0')
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Error: file not found: %s", url);
    if (!m->aptkey) {
        AUTO_FREE char *folder = key_folder(m);
        apt_key_t key = { .path = path, .keydir = folder, .keyfile = key_name(m), .saltenv = m->saltenv };
        return key_added(apt_add_key(m->ctx, &key, err), url, err);
    }
    json_auto_t *out = apt_output(m->ctx, err, "apt-key", "add", path, NULL);
    if (out == NULL)
        return err->code;
    if (strncasecmp(value_str(out, "stdout", ""), "OK", 2) != 0)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Error: failed to add key from %s", url);
    return 0;
}

/* Takes the key from keyserver, URL or text, in this precedence; none may be named. */
static int
aptmod_add_key(const mod_t *m, fail_t *err)
{
    if (!m->aptkey && *m->wanted->signedby == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "missing 'signedby' option when apt-key is missing");
    if (value_get(m->kwargs, "keyid") != NULL)
        return keys_by_id(m, err);
    if (value_get(m->kwargs, "key_url") != NULL)
        return key_by_url(m, err);
    if (value_get(m->kwargs, "key_text") == NULL)
        return 0;
    const char *text = value_str(m->kwargs, "key_text", "");
    AUTO_FREE char *folder = key_folder(m);
    apt_key_t key = {
        .text = text, .aptkey = m->aptkey, .keydir = folder, .keyfile = key_name(m), .saltenv = m->saltenv
    };
    int rc = apt_add_key(m->ctx, &key, err);
    if (rc == 0)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Error: failed to add key:\n%s", text);
    return rc;
}

/* ---- the source ---------------------------------------------------------------------------- */

/* A keyword that is "a,b" or a list; `dflt` when it is not given. NEW. */
static json_t *
list_arg(const mod_t *m, const char *name, json_t *dflt)
{
    const json_t *v = pkg_arg(m->kwargs, name);

    if (v == NULL || json_is_array(v))
        return json_copy(v != NULL ? (json_t *) v : dflt);
    AUTO_FREE char *text = value_pystr(v);

    json_t *ret = json_array();
    char **words = str_split(text, ",", false);

    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(ret, json_string(str_trim(words[i])));
    strv_free(words);
    return ret;
}

/* True when the lists share a member. */
static bool
has_any(const json_t *list, const json_t *wanted)
{
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        for (size_t k = 0; k < json_array_size(list); k++) {
            if (json_equal(json_array_get(wanted, i), json_array_get(list, k)))
                return true;
        }
    }
    return false;
}

/* The entry that is meant, or NULL. BORROWED. Components may differ: an entry that shares one of them, or has
 * none, is changed and not doubled. */
static apt_source_t *
aptmod_find(const mod_t *m, const apt_sources_t *sources, const json_t *comps, const json_t *archs)
{
    json_auto_t *all = json_copy(m->wanted->comps);
    const char *dist = value_str(m->kwargs, "dist", NULL), *type = value_str(m->kwargs, "type", NULL);

    json_array_extend(all, (json_t *) comps);
    for (size_t i = 0; i < apt_sources_count(sources); i++) {
        apt_source_t *entry = apt_sources_at(sources, i);
        bool same = str_eq(entry->type, m->wanted->type) && apt_same_uri(entry->uri, m->wanted->uri) &&
                    str_eq(entry->dist, m->wanted->dist);
        bool named = dist != NULL && type != NULL && str_eq(entry->dist, dist) && str_eq(entry->type, type);
        if (entry->invalid || !(same || named))
            continue;
        if (has_any(entry->comps, all) || json_array_size(entry->comps) == 0 ||
            !json_equal(archs, entry->archs))
            return entry;
    }
    return NULL;
}

/* Replaces a member and marks the entry as changed, unless it is equal. */
static void
set_list(apt_source_t *entry, json_t **slot, json_t *value)
{
    if (json_equal(*slot, value))
        return;
    json_decref(*slot);
    *slot = json_incref(value);
    entry->changed = true;
}

/* NULL leaves the member as it is. */
static void
aptmod_set_text(apt_source_t *entry, char **slot, const char *value)
{
    if (value == NULL || str_eq(*slot, value))
        return;
    apt_source_set(slot, value);
    entry->changed = true;
}

/* Gives the entry the further options of the wish; those it has beyond them stay. */
static void
merge_options(apt_source_t *entry, const json_t *wanted)
{
    json_t *option;
    size_t i;

    json_array_foreach (wanted, i, option) {
        const char *text = json_string_value(option);
        size_t name = strcspn(text, "=") + 1, n = json_array_size(entry->others), k = 0;
        while (k < n && strncmp(json_string_value(json_array_get(entry->others, k)), text, name) != 0)
            k++;
        if (json_equal(json_array_get(entry->others, k), option))
            continue;
        if (k < n)
            json_array_set(entry->others, k, option);
        else
            json_array_append(entry->others, option);
        entry->changed = true;
    }
}

/* Duplicates become one entry, all of them in the main list. */
static void
consolidate(apt_sources_t *sources)
{
    for (size_t i = 0; i < apt_sources_count(sources);) {
        apt_source_t *entry = apt_sources_at(sources, i);
        bool merged = false;
        for (size_t k = 0; k < i && !merged && !entry->invalid; k++) {
            apt_source_t *first = apt_sources_at(sources, k);
            merged = str_eq(first->type, entry->type) && str_eq(first->uri, entry->uri) &&
                     str_eq(first->dist, entry->dist) && first->disabled == entry->disabled &&
                     json_equal(first->archs, entry->archs);
            for (size_t c = 0; merged && c < json_array_size(entry->comps); c++) {
                json_auto_t *one = json_pack("[O]", json_array_get(entry->comps, c));
                if (!has_any(first->comps, one))
                    json_array_extend(first->comps, one);
            }
            first->changed = first->changed || merged;
        }
        if (merged || entry->invalid) {
            apt_sources_remove(sources, i);
        } else {
            apt_sources_move(sources, entry, APT_MAIN_LIST);
            i++;
        }
    }
}

/* Refuses values that would become fields or lines of the list. Several components may stand in one text. */
static int
aptmod_check(const mod_t *m, const json_t *archs, const json_t *comps, fail_t *err)
{
    const json_t *uri = value_get(m->kwargs, "uri");
    bool disc = json_is_string(uri) && str_starts(json_string_value(uri), "cdrom:");
    const struct {
        const char *argument;
        const json_t *value;
        const char *separators;
    } rows[] = {
        { "architectures", archs, FIELD_WORD ",[]#" },
        { "comps", comps, FIELD_LINE "#" },
        { "dist", value_get(m->kwargs, "dist"), FIELD_WORD "#" },
        { "uri", uri, disc ? FIELD_LINE : FIELD_WORD "#" },
        { "comments", pkg_arg(m->kwargs, "comments"), FIELD_LINE },
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(rows); i++)
        rc = field_check(rows[i].argument, rows[i].value, rows[i].separators, err);
    return rc;
}

/* Finds or adds the entry, sets its members and saves. *ret_value describes the entry. */
static int
aptmod_change(mod_t *m, json_t **ret_value, fail_t *err)
{
    AUTO(apt_sources) sources = apt_sources_new(apt_root(), err);
    const char *file = value_str(m->kwargs, "file", NULL), *uri = value_str(m->kwargs, "uri", m->wanted->uri);

    json_auto_t *comps = list_arg(m, "comps", m->wanted->comps);
    json_auto_t *archs = list_arg(m, "architectures", m->wanted->archs);
    if (sources == NULL || aptmod_check(m, archs, comps, err) < 0)
        return err->code;
    if (value_truthy(value_get(m->kwargs, "clean_file")) && !str_empty(file))
        apt_sources_empty(sources, file);
    if (value_truthy(value_get(m->kwargs, "consolidate")))
        consolidate(sources);
    apt_source_t *entry = aptmod_find(m, sources, comps, archs);
    if (entry == NULL) {
        apt_source_t *fresh = entry = apt_source_new(m->repo, file);
        entry->changed = true;
        apt_sources_add(sources, &fresh);
    }

    const json_t *v = pkg_arg(m->kwargs, "comments");
    buf_auto_t text = BUF_INIT;

    if (v != NULL) {
        for (size_t i = 0; i < json_array_size(v); i++) {
            AUTO_FREE char *part = value_pystr(json_array_get(v, i));
            buf_printf(&text, "%s%s", i > 0 ? " " : "", part);
        }
        AUTO_FREE char *whole = json_is_array(v) ? buf_steal(&text) : value_pystr(v);
        aptmod_set_text(entry, &entry->comment, whole != NULL ? str_trim(whole) : "");
    }

    set_list(entry, &entry->comps, comps);
    set_list(entry, &entry->archs, archs);
    merge_options(entry, m->wanted->others);
    aptmod_set_text(entry, &entry->dist, value_str(m->kwargs, "dist", NULL));
    aptmod_set_text(entry, &entry->uri, uri);
    aptmod_set_text(entry, &entry->signedby, m->wanted->signedby);
    /* `disabled` wins over `enabled`; without both the entry stays as it is. */
    const json_t *disabled = value_get(m->kwargs, "disabled"), *enabled = value_get(m->kwargs, "enabled");
    bool off = disabled != NULL ? pkg_true(disabled) : !pkg_true(enabled);
    if ((disabled != NULL || enabled != NULL) && entry->disabled != off) {
        entry->disabled = off;
        entry->changed = true;
    }
    if (file != NULL)
        apt_sources_move(sources, entry, file);
    if (entry->changed)
        apt_source_reline(entry);
    int rc = apt_sources_save(sources, err);
    if (rc < 0)
        return rc;
    json_auto_t *told = apt_source_json(entry);
    json_object_del(told, "dist");
    json_object_set_new(told, "line", value_fmt("%s\n", entry->line));
    *ret_value = json_pack("{s:O}", m->repo, told);
    return 0;
}

/* ---- PPAs ---------------------------------------------------------------------------------- */

/* Fills in the key and the file that a PPA implies. */
static int
fill_ppa(mod_t *m, const char *repo, const char *auth, fail_t *err)
{
    const char *dist = value_str(ctx_grains(m->ctx), "oscodename", ""), *rest = repo + strlen("ppa:");
    AUTO_FREE char *name = str_replace(rest, "/", "-");
    json_auto_t *info = apt_ppa_info(m->ctx, repo, err);

    if (info == NULL)
        return err->code;
    json_object_set_new(m->kwargs, "dist", json_string(dist));
    if (value_get(m->kwargs, "file") == NULL)
        json_object_set_new(m->kwargs, "file", value_fmt("/etc/apt/sources.list.d/%s-%s.list", name, dist));
    if (auth == NULL)
        json_object_set_new(m->kwargs, "keyid", json_string(value_str(info, "signing_key_fingerprint", "")));
    else if (value_get(m->kwargs, "keyid") == NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Private PPAs require a keyid to be specified: %s",
                         rest);
    else if (!value_truthy(value_get(info, "private")))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "PPA is not private but auth credentials passed: %s",
                         repo);
    if (value_get(m->kwargs, "keyserver") == NULL)
        json_object_set_new(m->kwargs, "keyserver", json_string("keyserver.ubuntu.com"));
    return 0;
}

/* By apt-add-repository. *ret_value NEW. A PPA that is there already is told and not added again. The proxy
 * goes by the environment, which other users can't read. */
static int
add_ppa(mod_t *m, const char *repo, bool refresh, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *proxy = proxy_url(m->ctx);
    json_auto_t *have = apt_find_repo(m->ctx, repo, NULL, err);

    if (have == NULL)
        return err->code;
    if (json_object_size(have) > 0) {
        *ret_value = json_pack("{s:O}", repo, have);
        return 0;
    }
    if (proxy != NULL) {
        AUTO_FREE char *plain = xasprintf("http_proxy=%s", proxy);
        AUTO_FREE char *secure = xasprintf("https_proxy=%s", proxy);
        prog_env(&prog, plain);
        prog_env(&prog, secure);
    }
    apt_prog(m->ctx, &prog, false);
    prog_adds(&prog, "apt-add-repository", "-y", repo, NULL);
    json_auto_t *out = apt_run(&prog, err);
    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0)
        return fail_kind(
            err, FAIL_COMMAND, -EREMOTEIO,
            "Unable to add PPA '%s'. '['apt-add-repository', '-y', '%s']' exited with status %d: '%s' ",
            repo + strlen("ppa:"), repo, (int) value_int(out, "retcode", 0), value_str(out, "stderr", ""));
    json_auto_t *done = refresh ? apt_refresh(m->ctx, NULL, false, err) : json_null();
    if (done == NULL)
        return err->code;
    *ret_value = json_pack("{s:O}", repo, out);
    return 0;
}

/* ---- mod_repo ------------------------------------------------------------------------------ */

/* Turns a PPA into a line where needed, and checks the definition before anything is changed. */
static int
mod_repo(mod_t *m, const char *repo, json_t **ret_value, fail_t *err)
{
    const json_t *old_name = value_get(m->kwargs, "refresh_db"), *wish = value_get(m->kwargs, "refresh");
    bool refresh = old_name != NULL ? value_truthy(old_name) : wish == NULL || value_truthy(wish);
    const char *auth = value_str(m->kwargs, "ppa_auth", NULL);
    AUTO_FREE char *line = NULL;

    if (str_starts(repo, "ppa:")) {
        AUTO_FREE char *tool = fs_which("apt-add-repository");
        if (!apt_is_ppa_host(m->ctx))
            return fail_kind(err, FAIL_COMMAND, -EINVAL, "cannot parse \"ppa:\" style repo definitions: %s",
                             repo);
        if (tool != NULL && auth == NULL)
            return add_ppa(m, repo, refresh, ret_value, err);
        line = apt_ppa_line(m->ctx, repo, auth, err);
        if (line == NULL || fill_ppa(m, repo, auth, err) < 0)
            return err->code;
    }
    const char *file = value_str(m->kwargs, "file", NULL);
    if (file != NULL && *file != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "file '%s' is not an absolute path", file);
    m->repo = line != NULL ? line : repo;
    m->wanted = apt_source_new(m->repo, NULL);
    if (m->wanted->invalid)
        return fail_set(err, -EINVAL, "Error: repo '%s' not a well formatted definition", m->repo);

    int rc = aptmod_add_key(m, err);

    if (rc < 0)
        return rc;
    if ((rc = aptmod_change(m, ret_value, err)) < 0 || !refresh)
        return rc;
    json_auto_t *done = apt_refresh(m->ctx, NULL, false, err);
    if (done == NULL) {
        json_decref(*ret_value);
        *ret_value = NULL;
        return err->code;
    }
    return 0;
}

/* The definition is copied, as a PPA fills in more of it. */
int
apt_mod_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    mod_t m = { .ctx = ctx,
                .saltenv = value_str(args, "saltenv", "base"),
                .kwargs = json_copy(value_get(args, "kwargs")),
                .aptkey = apt_has_apt_key(value_truthy(value_get(args, "aptkey"))) };
    int rc = mod_repo(&m, value_str(args, "repo", ""), ret_value, err);

    apt_source_destroy(&m.wanted);
    json_decref(m.kwargs);
    return rc;
}
