/* config.c - execution module `config`: settings from the minion's configuration, grains, pillar and the
 * master, in this order, and then from defaults of Salt's modules. Arguments omit_* leave sources out. */
#include "salt/plugin.h"

#include <fnmatch.h>

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "common/py/py_peer.h"
#include "common/py/py_traverse.h"
#include "plugins/lib/sdb/sdb.h"
#include "plugins/lib/call/pyargs.h"
#include "salt/log.h"

/* Defaults that Salt's modules use when an option is not configured. */
static const char defaults_json[] =
    "{\"mongo.db\": \"salt\", \"mongo.password\": \"\", \"mongo.port\": 27017, \"mongo.user\": \"\","
    " \"redis.db\": \"0\", \"redis.host\": \"salt\", \"redis.port\": 6379, \"test.foo\": \"unconfigured\","
    " \"ca.cert_base_path\": \"/etc/pki\", \"solr.cores\": [], \"solr.host\": \"localhost\","
    " \"solr.port\": \"8983\", \"solr.baseurl\": \"/solr\", \"solr.type\": \"master\","
    " \"solr.request_timeout\": null, \"solr.init_script\": \"/etc/rc.d/solr\","
    " \"solr.dih.import_options\": {\"clean\": false, \"optimize\": true, \"commit\": true, \"verbose\": "
    "false},"
    " \"solr.backup_path\": null, \"solr.num_backups\": 1,"
    " \"poudriere.config\": \"/usr/local/etc/poudriere.conf\","
    " \"poudriere.config_dir\": \"/usr/local/etc/poudriere.d\","
    " \"ldap.uri\": \"\", \"ldap.server\": \"localhost\", \"ldap.port\": \"389\", \"ldap.tls\": false,"
    " \"ldap.no_verify\": false, \"ldap.anonymous\": true, \"ldap.scope\": 2, \"ldap.attrs\": null,"
    " \"ldap.binddn\": \"\", \"ldap.bindpw\": \"\", \"hosts.file\": \"/etc/hosts\","
    " \"aliases.file\": \"/etc/aliases\", \"virt\": {\"tunnel\": false, \"images\": \"/srv/salt-images\"},"
    " \"docker.exec_driver\": \"docker-exec\", \"docker.compare_container_networks\": {"
    "\"static\": [\"Aliases\", \"Links\", \"IPAMConfig\"],"
    " \"automatic\": [\"IPAddress\", \"Gateway\", \"GlobalIPv6Address\", \"IPv6Gateway\"]}}";

/* NEW object. Text in JSON, so that each value has its type. */
static json_t *
default_settings(void)
{
    json_t *v = json_loads(defaults_json, 0, NULL);

    salt_assert(v != NULL);
    return v;
}

/* The master's configuration, as far as the pillar brings it (pillar_opts). BORROWED. NULL without
 * pillar_opts. */
static json_t *
master_settings(call_ctx_t *ctx)
{
    return value_get(ctx_pillar(ctx), "master");
}

/* Lookup order of a setting, the strongest source first. */
static const struct source {
    const char *omit; /* argument that leaves it out */
    json_t *(*find)(call_ctx_t *ctx);
} sources[] = {
    { "omit_opts", ctx_opts },
    { "omit_grains", ctx_grains },
    { "omit_pillar", ctx_pillar },
    { "omit_master", master_settings },
};

/* omit_all leaves only the defaults. */
static bool
omitted(const json_t *args, const struct source *s)
{
    return value_bool(args, s->omit, false) || value_bool(args, "omit_all", false);
}

/* ---- option ------------------------------------------------------------------------------- */

/* The first to bring a name keeps it. */
static void
add_matching(json_t *found, json_t *from, const char *pattern)
{
    const char *key;
    json_t *v;

    json_object_foreach (from, key, v) {
        if (fnmatch(pattern, key, FNM_NOESCAPE) == 0 && value_get(found, key) == NULL)
            json_object_set(found, key, v);
    }
}

/* "" when nothing is set and there is no default. Of a glob an object of all that match; {} or the default
 * when none does. */
static int
config_option(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "value", "");
    json_t *dflt = value_get(args, "default"), *v = NULL;
    json_auto_t *defaults = default_settings();

    if (value_bool(args, "wildcard", false)) {
        /* What is set in a stronger place hides the same name in a weaker one. */
        json_auto_t *found = json_object();
        for (size_t i = 0; i < NELEMS(sources); i++) {
            if (!omitted(args, &sources[i]))
                add_matching(found, sources[i].find(ctx), name);
        }
        add_matching(found, defaults, name);
        *ret_value = json_object_size(found) > 0 || json_is_null(dflt) ? json_incref(found)
                                                                       : json_incref(dflt);
        return 0;
    }
    for (size_t i = 0; v == NULL && i < NELEMS(sources); i++) {
        if (!omitted(args, &sources[i]))
            v = value_get(sources[i].find(ctx), name);
    }
    if (v == NULL)
        v = value_get(defaults, name);
    if (v == NULL && !json_is_null(dflt))
        v = dflt;
    *ret_value = v != NULL ? json_incref(v) : json_string("");
    return 0;
}

/* ---- get ---------------------------------------------------------------------------------- */

/* The same places as Python's values. NEW; NULL: there is nothing. Numbered as `sources`. */
static py_t *
native_place(call_ctx_t *ctx, size_t i)
{
    py_t *pillar = i >= 2 ? ctx_native_pillar(ctx) : NULL;

    switch (i) {
    case 0:
        return py_from_json(ctx_opts(ctx));
    case 1:
        return py_ref(ctx_native_grains(ctx));
    case 2:
        return py_ref(pillar);
    default:
        return py_ref(py_dict_gets(pillar, "master"));
    }
}

/* Everything in one dictionary, the strongest last. NEW, or NULL raised. Wrong names of a strategy are
 * logged, and "recurse" is used, as by Salt. */
static py_t *
exec_config_merged(call_ctx_t *ctx, const char *strategy)
{
    json_auto_t *defaults = default_settings();
    AUTO(py) all = py_from_json(defaults);

    if (strcmp(strategy, "overwrite") != 0 && strcmp(strategy, "recurse") != 0)
        log_warning("Unsupported merge strategy '%s'. Falling back to 'recurse'.", strategy);
    for (size_t i = NELEMS(sources); all != NULL && i-- > 0;) {
        AUTO(py) more = native_place(ctx, i);
        if (more == NULL || !py_is(more, PY_DICT))
            continue;
        py_t *both = py_merge(all, more, strcmp(strategy, "overwrite") == 0 ? strategy : "recurse", false);
        py_unref(all);
        all = both;
    }
    return STEAL(all);
}

/* In one place. The configuration is large, and only what is found in it need be converted. NEW, or NULL. */
static py_t *
look_in(call_ctx_t *ctx, size_t i, py_t *key, const char *delim)
{
    if (i == 0 && py_is(key, PY_STR)) {
        json_t *found = value_path(ctx_opts(ctx), py_cstr(key), delim);
        return found != NULL ? py_from_json(found) : NULL;
    }
    AUTO(py) place = native_place(ctx, i);
    return place != NULL && py_is(place, PY_DICT) ? py_traverse(place, key, delim) : NULL;
}

/* What is found in the first place that has it, or in all of them merged. NEW, or NULL, which may have
 * raised. omit_* count only without `merge`. */
static py_t *
exec_config_find(call_ctx_t *ctx, py_t *args)
{
    const char *given = pyarg_text(args, "delimiter", ":"), *delim = *given != '\0' ? given : ":";
    py_t *key = py_dict_gets(args, "key"), *strategy = py_dict_gets(args, "merge"), *found = NULL;

    if (!py_is(strategy, PY_NONE)) {
        AUTO(py) all = exec_config_merged(ctx, py_cstr(strategy));
        return all != NULL ? py_traverse(all, key, delim) : NULL;
    }
    for (size_t i = 0; found == NULL && py_raised() == NULL && i < NELEMS(sources); i++)
        if (!pyarg_flag(args, sources[i].omit))
            found = look_in(ctx, i, key, delim);
    if (found == NULL && py_raised() == NULL) {
        json_auto_t *defaults = default_settings();
        AUTO(py) all = py_from_json(defaults);
        found = py_traverse(all, key, delim);
    }
    return found;
}

/* Values are Python's, so that what is not JSON survives. An address (sdb://) stands for its value, unless
 * another machine said it: that would read a secret by a grain. NEW, or NULL raised or with *err. */
static py_t *
exec_config_get(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    AUTO(py) found = exec_config_find(ctx, args);

    if (found == NULL)
        return py_raised() != NULL ? NULL : py_ref(py_dict_gets(args, "default"));
    return py_holds_peer(found) ? STEAL(found) : sdb_get(ctx, found, false, err);
}

/* ---- merge -------------------------------------------------------------------------------- */

/* Dictionaries and lists of several places are joined, the first one is stronger. NEW. */
static json_t *
exec_config_joined(json_t *have, json_t *more)
{
    if (json_is_object(have) && json_is_object(more)) {
        json_t *both = json_copy(more);
        json_object_update(both, have);
        return both;
    }
    if (json_is_array(have) && json_is_array(more)) {
        json_t *both = json_copy(have);
        json_array_extend(both, more);
        return both;
    }
    return json_incref(have);
}

/* A text ends the search, as it can't be merged. Grains are not asked, as by Salt. */
static int
config_merge(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const size_t order[] = { 0, 3, 2 }; /* configuration, master, pillar */
    const char *name = value_str(args, "value", "");
    json_auto_t *defaults = default_settings();
    json_auto_t *found = NULL;

    for (size_t i = 0; i < NELEMS(order) && !json_is_string(found); i++) {
        json_t *v = omitted(args, &sources[order[i]]) ? NULL : value_get(sources[order[i]].find(ctx), name);
        if (v == NULL)
            continue;
        json_t *both = found != NULL ? exec_config_joined(found, v) : json_incref(v);
        json_decref(found);
        found = both;
    }
    json_t *v = found != NULL ? found : value_get(defaults, name);
    *ret_value = json_incref(v != NULL ? v : value_get(args, "default"));
    return 0;
}

/* ---- the rest ----------------------------------------------------------------------------- */

/* The configuration as the job sees it. */
static int
config_items(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(ctx_opts(ctx));
    return 0;
}

/* Options whose names begin with "VALUE."; the minion's own override the master's. */
static int
config_dot_vals(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *prefix = xasprintf("%s.", value_str(args, "value", ""));
    json_t *const places[] = { master_settings(ctx), ctx_opts(ctx) };
    json_t *found = json_object(), *v;
    const char *key;

    for (size_t i = 0; i < NELEMS(places); i++) {
        json_object_foreach (places[i], key, v) {
            if (str_starts(key, prefix))
                json_object_set(found, key, v);
        }
    }
    *ret_value = found;
    return 0;
}

/* The argument, else the option of the name. */
static int
config_backup_mode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "backup");
    json_auto_t *call = json_pack("[s]", "backup_mode");

    if (!value_truthy(given))
        return ctx_call(ctx, "config.option", call, NULL, ret_value, err);
    *ret_value = json_incref(given);
    return 0;
}

/* "0o644", 644 and "'00644'" are all "0644". Longer modes ("1755") stay; quotes and leading zeros go. */
static int
config_manage_mode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *mode = value_get(args, "mode");

    if (json_is_null(mode)) {
        *ret_value = json_null();
        return 0;
    }
    AUTO_FREE char *raw = value_pystr(mode);
    AUTO_FREE char *text = str_replace(raw, "0o", "0");
    const char *p = text + strspn(text, "\"");
    p += strspn(p, "'");
    size_t len = strlen(p);
    while (len > 0 && (p[len - 1] == '"' || p[len - 1] == '\''))
        len--;
    while (len > 0 && *p == '0') {
        p++;
        len--;
    }
    *ret_value = value_fmt("%.*s%.*s", len < 4 ? (int) (4 - len) : 0, "0000", (int) len, p);
    return 0;
}

/* By the protocol alone; letters of either case. */
static int
config_valid_fileproto(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const known[] = { "salt", "file", "http", "https", "ftp", "swift", "s3" };
    const char *uri = value_str(args, "uri", ""), *colon = strchr(uri, ':');
    bool valid = false;

    for (size_t i = 0; colon != NULL && i < NELEMS(known); i++) {
        size_t len = strlen(known[i]);
        valid = valid || (len == (size_t) (colon - uri) && strncasecmp(known[i], uri, len) == 0);
    }
    *ret_value = json_boolean(valid);
    return 0;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t option_args[] = {
    ARG("value", ARG_STR, ARG_REQUIRED, "Name of the setting"),
    ARG("default", ARG_ANY, "null", "When it is nowhere set; an empty text unless given"),
    ARG("omit_opts", ARG_BOOL, "false", "Not from the minion's configuration"),
    ARG("omit_grains", ARG_BOOL, "false", "Not from grains"),
    ARG("omit_pillar", ARG_BOOL, "false", "Not from pillar"),
    ARG("omit_master", ARG_BOOL, "false", "Not from the master's configuration"),
    ARG("omit_all", ARG_BOOL, "false", "Only the built-in defaults"),
    ARG("wildcard", ARG_BOOL, "false", "The name is a glob; returns a dictionary"),
    ARGS_END,
};
static const arg_t merge_args[] = {
    ARG("value", ARG_STR, ARG_REQUIRED, "Name of the setting"),
    ARG("default", ARG_ANY, "\"\"", "When it is nowhere set"),
    ARG("omit_opts", ARG_BOOL, "false", "Not from the minion's configuration"),
    ARG("omit_master", ARG_BOOL, "false", "Not from the master's configuration"),
    ARG("omit_pillar", ARG_BOOL, "false", "Not from pillar"),
    ARGS_END,
};
static const arg_t get_args[] = {
    ARG("key", ARG_ANY, ARG_REQUIRED, "Path of the setting, such as pkg:apache"),
    ARG("default", ARG_ANY, "\"\"", "When it is nowhere set"),
    ARG("delimiter", ARG_ANY, "\":\"", "What separates the parts of the path"),
    ARG("merge", ARG_ANY, "null", "recurse or overwrite: join all places first"),
    ARG("omit_opts", ARG_ANY, "false", "Not from the minion's configuration"),
    ARG("omit_pillar", ARG_ANY, "false", "Not from pillar"),
    ARG("omit_master", ARG_ANY, "false", "Not from the master's configuration"),
    ARG("omit_grains", ARG_ANY, "false", "Not from grains"),
    ARGS_END,
};
static const arg_t dot_args[] = {
    ARG("value", ARG_STR, ARG_REQUIRED, "What stands before the dot"),
    ARGS_END,
};
static const arg_t backup_args[] = {
    ARG("backup", ARG_ANY, "\"\"", "Returned when it is set"),
    ARGS_END,
};
static const arg_t mode_args[] = {
    ARG("mode", ARG_ANY, ARG_REQUIRED, "A file mode"),
    ARGS_END,
};
static const arg_t uri_args[] = {
    ARG("uri", ARG_STR, ARG_REQUIRED, "A URL"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "backup_mode", config_backup_mode, backup_args, FN_READONLY,
      "Return how files are backed up before they change." CLI_EXAMPLE("salt '*' config.backup_mode") },
    { "dot_vals", config_dot_vals, dot_args, FN_READONLY | FN_PEER_GRAINS | FN_PEER_PILLAR,
      "Return the settings whose names begin with this word and a dot." CLI_EXAMPLE(
          "salt '*' config.dot_vals host") },
    { "get", NATIVE(exec_config_get), get_args, FN_READONLY | FN_NATIVE | FN_PEER_GRAINS,
      "Return a setting from the first place that has it: the minion's configuration, grains, pillar, the "
      "master's configuration (with ``pillar_opts: True``), the built-in defaults." CLI_EXAMPLE(
          "salt '*' config.get pkg:apache\n    salt '*' config.get lxc.container_profile:centos "
          "merge=recurse") },
    { "items", config_items, NULL, FN_READONLY | FN_PEER_GRAINS,
      "Return the whole configuration of the minion, defaults included." CLI_EXAMPLE(
          "salt '*' config.items") },
    { "manage_mode", config_manage_mode, mode_args, FN_READONLY,
      "Return a file mode as a text of at least four digits." CLI_EXAMPLE(
          "salt '*' config.manage_mode 644") },
    { "merge", config_merge, merge_args, FN_READONLY | FN_PEER_GRAINS | FN_PEER_PILLAR,
      "Return a setting, joined from all places that have it." CLI_EXAMPLE(
          "salt '*' config.merge schedule") },
    { "option", config_option, option_args, FN_READONLY | FN_PEER_GRAINS | FN_PEER_PILLAR,
      "Return a setting by its whole name, without looking inside dictionaries." CLI_EXAMPLE(
          "salt '*' config.option redis.host\n    salt '*' config.option '*' omit_all=True wildcard=True") },
    { "valid_fileproto", config_valid_fileproto, uri_args, FN_READONLY,
      "Whether files can be fetched from URLs of this kind." CLI_EXAMPLE(
          "salt '*' config.valid_fileproto salt://path/to/file") },
};

PLUGIN(exec, config, .doc = "Settings, wherever they are made", FUNCS(funcs));
