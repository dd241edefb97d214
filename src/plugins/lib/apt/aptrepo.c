/* aptrepo.c - pkg.list_repos, get_repo, del_repo, expand_repo_def: questions about sources, and their
 * removal. A repository given as a PPA is turned into its line first. */
#include "plugins/lib/apt/aptrepo.h"

#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"

/* An entry as Salt shows it. NEW. */
json_t *
apt_source_json(const apt_source_t *entry)
{
    AUTO_FREE char *line = xstrdup(entry->line);

    return json_pack("{s:s, s:O, s:b, s:s, s:s, s:s, s:s, s:O, s:s}", "file", entry->file, "comps",
                     entry->comps, "disabled", entry->disabled, "dist", entry->dist, "type", entry->type,
                     "uri", entry->uri, "line", str_trim(line), "architectures", entry->archs, "signedby",
                     entry->signedby);
}

/* {address: [entries]}; lines that are no source are left out. */
int
apt_list_repos(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(apt_sources) sources = apt_sources_new(apt_root(), err);
    json_t *ret;

    if (sources == NULL)
        return err->code;
    ret = json_object();
    for (size_t i = 0; i < apt_sources_count(sources); i++) {
        const apt_source_t *entry = apt_sources_at(sources, i);
        if (entry->invalid)
            continue;
        json_t *list = json_object_get(ret, entry->uri);
        if (list == NULL) {
            list = json_array();
            json_object_set_new(ret, entry->uri, list);
        }
        json_array_append_new(list, apt_source_json(entry));
    }
    *ret_value = ret;
    return 0;
}

/* ---- finding ------------------------------------------------------------------------------- */

static bool
have_common(const json_t *a, const json_t *b)
{
    json_t *x, *y;
    size_t i, k;

    json_array_foreach (a, i, x) {
        json_array_foreach (b, k, y) {
            if (json_equal(x, y))
                return true;
        }
    }
    return false;
}

/* A slash at the end makes no difference. */
bool
apt_same_uri(const char *a, const char *b)
{
    size_t n_a = strlen(a), n_b = strlen(b);

    while (n_a > 0 && a[n_a - 1] == '/')
        n_a--;
    while (n_b > 0 && b[n_b - 1] == '/')
        n_b--;
    return n_a == n_b && memcmp(a, b, n_a) == 0;
}

/* First entry with the same type, address and suite that shares a component. NEW; {} when there is none, NULL
 * with *err. */
json_t *
apt_find_repo(call_ctx_t *ctx, const char *repo, const char *auth, fail_t *err)
{
    AUTO_FREE char *line = NULL;

    if (str_starts(repo, "ppa:") && apt_is_ppa_host(ctx)) {
        line = apt_ppa_line(ctx, repo, auth, err);
        if (line == NULL)
            return NULL;
    }
    AUTO(apt_sources) sources = apt_sources_new(apt_root(), err);
    if (sources == NULL)
        return NULL;
    AUTO(apt_source) wanted = apt_source_new(line != NULL ? line : repo, NULL);

    /* "http://host/x" with "user:word@" before the host, unless it is there. */
    char *host = strstr(wanted->uri, "://");
    if (auth != NULL && host != NULL && !(str_starts(host + 3, auth))) {
        AUTO_FREE char *uri = xasprintf("%.*s%s@%s", (int) (host + 3 - wanted->uri), wanted->uri, auth,
                                        host + 3);
        apt_source_set(&wanted->uri, uri);
    }

    for (size_t i = 0; i < apt_sources_count(sources) && !wanted->invalid; i++) {
        const apt_source_t *entry = apt_sources_at(sources, i);
        if (entry->invalid || !str_eq(entry->type, wanted->type) || !apt_same_uri(entry->uri, wanted->uri) ||
            !str_eq(entry->dist, wanted->dist))
            continue;
        if (json_array_size(wanted->comps) == 0 || have_common(wanted->comps, entry->comps))
            return apt_source_json(entry);
    }
    return json_object();
}

int
apt_get_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = apt_find_repo(ctx, value_str(args, "repo", ""),
                               value_str(value_get(args, "kwargs"), "ppa_auth", NULL), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- deleting ------------------------------------------------------------------------------ */

/* True when the entry is the one to delete, or a PPA's deb-src companion. */
static bool
aptrepo_is_wanted(const apt_source_t *entry, const apt_source_t *wanted, bool ppa)
{
    bool same_place = apt_same_uri(entry->uri, wanted->uri) && str_eq(entry->dist, wanted->dist);
    bool same_comps = have_common(entry->comps, wanted->comps) ||
                      (json_array_size(entry->comps) == 0 && json_array_size(wanted->comps) == 0);

    if (entry->invalid || wanted->invalid || !same_place || !same_comps)
        return false;
    /* Adding a PPA adds its deb-src entries as well, so the type may differ. */
    return (str_eq(entry->type, wanted->type) && json_equal(entry->archs, wanted->archs)) ||
           (ppa && str_eq(wanted->type, "deb") && str_eq(entry->type, "deb-src"));
}

/* Takes the wanted components away. Returns whether some are left. */
static bool
drop_comps(apt_source_t *entry, const json_t *comps)
{
    json_t *left = json_array(), *v, *gone;
    size_t i, k;

    json_array_foreach (entry->comps, i, v) {
        bool drop = false;
        json_array_foreach (comps, k, gone)
            drop = drop || json_equal(v, gone);
        if (!drop)
            json_array_append(left, v);
    }
    json_decref(entry->comps);
    entry->comps = left;
    entry->changed = true;
    return json_array_size(left) > 0;
}

/* NEW text of the return; files of sources.list.d that have become empty go away. */
static char *
tell_deleted(const apt_sources_t *sources, const json_t *files, const char *repo)
{
    buf_t text = BUF_INIT;
    const char *file;
    json_t *v;

    json_object_foreach ((json_t *) files, file, v) {
        AUTO_FREE char *path = root_path(apt_root(), file);
        bool used = false;
        for (size_t i = 0; i < apt_sources_count(sources); i++)
            used = used || str_eq(apt_sources_at(sources, i)->file, file);
        if (strstr(file, "sources.list.d/") != NULL && !used && unlink(path) == 0) {
            buf_printf(&text, "File %s containing repo '%s' has been removed.", file, repo);
        } else {
            buf_printf(&text, "Repo '%s' has been removed from %s.\n", repo, file);
        }
    }
    return buf_steal(&text);
}

/* Removes the named components; entries without any left go, and package lists are refreshed. */
int
apt_del_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *repo = value_str(args, "repo", "");
    bool ppa = str_starts(repo, "ppa:") && apt_is_ppa_host(ctx);
    AUTO_FREE char *line = ppa ? apt_ppa_line(ctx, repo,
                                              value_str(value_get(args, "kwargs"), "ppa_auth", NULL), err)
                               : xstrdup(repo);

    if (line == NULL)
        return err->code;
    AUTO(apt_sources) sources = apt_sources_new(apt_root(), err);
    if (sources == NULL)
        return err->code;
    AUTO(apt_source) wanted = apt_source_new(line, NULL);

    json_auto_t *files = json_object();

    for (size_t i = 0; i < apt_sources_count(sources);) {
        apt_source_t *entry = apt_sources_at(sources, i);
        if (!aptrepo_is_wanted(entry, wanted, ppa)) {
            i++;
            continue;
        }
        json_object_set_new(files, entry->file, json_true());
        if (drop_comps(entry, wanted->comps))
            i++;
        else
            apt_sources_remove(sources, i);
    }

    if (json_object_size(files) == 0)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Repo %s doesn't exist in the sources.list(s)", line);
    int rc = apt_sources_save(sources, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *text = tell_deleted(sources, files, line);
    json_auto_t *done = apt_refresh(ctx, NULL, false, err);
    if (done == NULL)
        return err->code;
    *ret_value = json_string(text);
    return 0;
}

/* ---- expand_repo_def ----------------------------------------------------------------------- */

/* "a, b" as a list; a list as it is. NEW. */
static json_t *
comma_list(const json_t *v)
{
    json_t *ret = json_array();

    if (json_is_array(v))
        json_array_extend(ret, (json_t *) v);
    if (!json_is_string(v))
        return ret;
    char **words = str_split(json_string_value(v), ",", false);
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(ret, json_string(str_trim(words[i])));
    strv_free(words);
    return ret;
}

static void
override_text(const json_t *kwargs, const char *name, char **slot)
{
    const json_t *v = pkg_arg(kwargs, name);

    if (v != NULL) {
        AUTO_FREE char *text = value_pystr(v);
        apt_source_set(slot, text);
    }
}

static void
override_list(const json_t *kwargs, const char *name, json_t **slot)
{
    const json_t *v = pkg_arg(kwargs, name);

    if (v != NULL) {
        json_decref(*slot);
        *slot = comma_list(v);
    }
}

int
apt_expand_repo_def(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");
    const char *repo = value_str(kwargs, "repo", NULL);
    AUTO_FREE char *line = NULL;

    if (repo == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "missing 'repo' argument");
    if (str_starts(repo, "ppa:") && apt_is_ppa_host(ctx)) {
        line = apt_ppa_line(ctx, repo, value_str(kwargs, "ppa_auth", NULL), err);
        if (line == NULL)
            return err->code;
    }
    AUTO(apt_source) entry = apt_source_new(line != NULL ? line : repo, NULL);
    override_text(kwargs, "uri", &entry->uri);
    override_text(kwargs, "dist", &entry->dist);
    override_text(kwargs, "signedby", &entry->signedby);
    override_list(kwargs, "comps", &entry->comps);
    override_list(kwargs, "architectures", &entry->archs);
    if (value_get(kwargs, "disabled") != NULL)
        entry->disabled = value_truthy(value_get(kwargs, "disabled"));
    apt_source_set(&entry->comment, "");
    if (entry->invalid)
        apt_source_set(&entry->line, "");
    else
        apt_source_reline(entry);
    *ret_value = apt_source_json(entry);
    return 0;
}
