/* ext_vault.c - external pillar `vault`: secrets of a HashiCorp Vault server, read by vault.read_secret with a
 * token of the minion, so that Vault's policies hold for it. What the server refuses, or has not, is left out,
 * as in Salt. */
#include "common/pillar/pillar_int.h"

#include "common/base/str.h"
#include "common/data/fieldpattern.h"
#include "common/py/py_json.h"
#include "salt/log.h"

/* Setting of a source that is a mapping, or a list in this order. BORROWED. */
static json_t *
vault_setting(const json_t *args, const char *name, size_t place)
{
    return json_is_object(args) ? value_get(args, name) : json_array_get(args, place);
}

/* Paths of "path=PATTERN" in the words of `conf`. NEW list; NULL: there is no such word. */
static json_t *
vault_paths(const compile_t *self, py_t *pillar, const char *conf)
{
    char **words = str_split(conf, " \t\n", true), *pattern = NULL;
    json_t *paths = NULL;

    for (size_t i = 0; words[i] != NULL && pattern == NULL; i++)
        pattern = str_starts(words[i], "path=") ? words[i] + strlen("path=") : NULL;
    if (pattern != NULL) {
        json_auto_t *values = json_pack("{s:s, s:o*}", "minion", self->env->id, "pillar", py_to_json(pillar));
        paths = fieldpattern_fill(pattern, values);
        if (paths == NULL) {
            log_warning("Could not resolve pillar path pattern %s", pattern);
            paths = json_array();
        }
    }
    strv_free(words);
    return paths;
}

/* Merges the secret at the path into *into_p. */
static int
vault_merge(compile_t *self, const char *path, py_t **into_p, fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:s}", "path", path), *secret = NULL;
    fail_auto_t why = FAIL_INIT;
    int rc = ctx_call(self->ctx, "vault.read_secret", NULL, kwargs, &secret, &why);

    if (rc == -ENOENT || rc == -EBADMSG) {
        log_info("Vault secret not found for: %s (%s)", path, fail_text(&why));
        return 0;
    }
    if (rc < 0)
        return fail_set(err, rc, "%s", fail_text(&why));
    AUTO(py) data = py_from_json(secret);
    return py_is(data, PY_DICT) ? compile_merge(self, into_p, data, err) : 0;
}

py_t *
ext_vault(compile_t *self, py_t *pillar, const json_t *args, fail_t *err)
{
    const char *conf = json_is_string(args) ? json_string_value(args)
                                            : json_string_value(vault_setting(args, "conf", 0));
    const char *nesting = json_string_value(vault_setting(args, "nesting_key", 1)),
               *strategy = json_string_value(vault_setting(args, "merge_strategy", 2)), *was = self->strategy;
    json_auto_t *paths = vault_paths(self, pillar, conf != NULL ? conf : "");
    bool lists = self->merge_lists;
    json_t *path;
    size_t i;
    int rc = 0;

    if (paths == NULL)
        log_error("\"%s\" is not a valid Vault ext_pillar config", conf != NULL ? conf : "");
    reads_mark_world(self->env->reads);
    self->strategy = strategy != NULL ? strategy : was;
    self->merge_lists = lists || value_truthy(vault_setting(args, "merge_lists", 3));
    AUTO(py) found = py_dict();
    json_array_foreach (paths, i, path)
        rc = rc == 0 ? vault_merge(self, json_string_value(path), &found, err) : rc;
    self->strategy = was;
    self->merge_lists = lists;
    if (rc < 0)
        return NULL;
    if (str_empty(nesting) || paths == NULL)
        return STEAL(found);
    AUTO(py) nested = py_dict();
    py_dict_sets_new(nested, nesting, STEAL(found));
    return STEAL(nested);
}
