/* conf.c - load the configuration: defaults, then the files, then the command line, each checked against its
 * row in options.def; afterwards it is read-only.
 *
 * Unknown options are kept, because modules read their own; a name that resembles a known one is a warning,
 * or an error if the known one grants or denies access. */
#include "common/conf/conf.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "salt/value.h"

#define AUTH_PREFIX "auth."

struct conf {
    json_t *opts;
    json_t *notes;
};

void
conf_destroy(conf_t **self_p)
{
    if (*self_p == NULL)
        return;
    json_decref((*self_p)->opts);
    json_decref((*self_p)->notes);
    free(*self_p);
    *self_p = NULL;
}

typedef struct names {
    size_t at;
    conf_side_t side;
} names_t;

/* Returns the names of this side's options one by one, for str_suggest(). */
static const char *
conf_next_name(void *cookie)
{
    names_t *names = cookie;
    size_t n;
    const option_row_t *rows = conf_rows(&n);

    while (names->at < n) {
        const option_row_t *row = &rows[names->at++];
        if ((row->side & names->side) != 0)
            return row->name;
    }
    return NULL;
}

/* Modules whose options may stand below their name, too: mysql: {host: ...}. Further registries of docker are
 * such sections by the end of their names. */
static bool
is_section(const char *name)
{
    static const char *const names[] = {
        "elasticsearch", "influxdb", "mattermost",    "mysql", "postgres",
        "rawfile_json",  "redis",    "slack_webhook", "smtp",  "splunk_http_forwarder",
        "syslog"
    };

    for (size_t i = 0; i < NELEMS(names); i++)
        if (str_eq(name, names[i]))
            return true;
    return str_ends(name, "-docker-registries");
}

/* True for an option that says who may do what, or whom to believe. Most have a rule; these are of one word
 * or one of a closed set, and their defaults would hold unnoticed. */
static bool
is_guard(const option_row_t *row)
{
    static const char *const guards[] = {
        "allow_minion_key_revoke",
        "always_verify_signature",
        "auto_accept",
        "client_acl_verify",
        "cmd_safe",
        "enforce_mine_cache",
        "file_recv",
        "fileserver_followsymlinks",
        "keep_acl_in_token",
        "key_expire_days",
        "lock_saltenv",
        "master_finger",
        "netapi_disable_clients",
        "netapi_enable_clients",
        "nodegroups",
        "open_mode",
        "peer_data",
        "permissive_acl",
        "permissive_pki_access",
        "renderer_blacklist",
        "renderer_whitelist",
        "sharedsecret",
        "token_expire",
        "verify_master_pubkey_sign",
        "verify_ssl",
    };

    for (size_t i = 0; i < NELEMS(guards); i++)
        if (str_eq(row->name, guards[i]))
            return true;
    return row->rule != NULL || str_starts(row->name, AUTH_PREFIX);
}

/* True for a profile of a store of values ("sdb://PROFILE/KEY"), whose name is the user's choice. */
static bool
is_profile(const json_t *v)
{
    return json_is_string(value_get(v, "driver"));
}

/* Report an unknown option. Names with a dot or colon belong to modules ("mysql.host"), but for those of
 * logins, and options of the other side are harmless. A misspelt access rule would silently not apply: that
 * is an error, not a warning. */
static int
check_unknown(const char *name, const char *where, conf_side_t side, json_t *warnings, fail_t *err)
{
    names_t names = { 0, side };
    bool of_module = strpbrk(name, ".:") != NULL && !str_starts(name, AUTH_PREFIX);

    if (of_module || *name == '_' || is_section(name) || conf_row(name, CONF_BOTH) != NULL)
        return 0;
    /* A system of a user's own has options, too. */
    bool of_login = str_starts(name, AUTH_PREFIX);
    const char *near = of_login ? str_typo_of(name, conf_next_name, &names)
                                : str_suggest(name, conf_next_name, &names);
    if (near == NULL && of_login)
        return 0;
    if (near != NULL && is_guard(conf_row(near, side)))
        return fail_set(
            err, -EINVAL,
            "%s: unknown option '%s'; is '%s' meant? That one says who may do what, and must not be "
            "missing by mistake",
            where, name, near);
    if (near != NULL)
        conf_warn(warnings, "%s: unknown option '%s'; is '%s' meant?", where, name, near);
    else
        conf_warn(warnings, "%s: unknown option '%s'", where, name);
    return 0;
}

/* Check an option that has no effect here. Its value can't prevent the start, so all problems are warnings or
 * notes. NEW value. */
static json_t *
take_without_effect(const option_row_t *row, json_t *v, const char *where, json_t *notes, json_t *warnings)
{
    fail_auto_t err = FAIL_INIT;
    json_t *checked = conf_check(row, v, where, &err);

    if (checked == NULL) {
        conf_warn(warnings, "%s; it has no effect in Halite", fail_text(&err));
        return json_incref(v);
    }
    /* Its default, or nothing, needs no word. */
    json_auto_t *dflt = conf_default(row);
    if (json_equal(checked, dflt) || (!value_truthy(checked) && !value_truthy(dflt)))
        return checked;
    if (row->effect == CONF_MISSED)
        conf_warn(warnings, "%s: option '%s' has no effect in Halite: %s", where, row->name, row->instead);
    else
        conf_warn(notes, "%s: option '%s' has no effect in Halite, which gets along without", where,
                  row->name);
    return checked;
}

/* Apply the values over the defaults. An option without a value (null) keeps its default. */
static int
conf_apply(json_t *opts, const conf_said_t *said, conf_side_t side, json_t *notes, json_t *warnings,
           fail_t *err)
{
    const char *name;
    json_t *v;

    json_object_foreach (said->values, name, v) {
        const option_row_t *row = conf_row(name, side);
        const char *where = value_str(said->where, name, "");
        if (row == NULL) {
            if (!is_profile(v) && check_unknown(name, where, side, warnings, err) < 0)
                return -EINVAL;
            json_object_set(opts, name, v);
        } else if (!json_is_null(v)) {
            json_t *checked = row->effect == CONF_HEEDED
                                  ? conf_check(row, v, where, err)
                                  : take_without_effect(row, v, where, notes, warnings);
            if (checked == NULL)
                return conf_refuse_hidden(said, name, err);
            json_object_set_new(opts, name, checked);
        }
    }
    return 0;
}

/* The checks of values come before the options that depend on others (conf_finish()): those may rely on
 * types. NEW, or NULL with *err. */
static conf_t *
conf_build(const char *dir, conf_side_t side, const conf_said_t *said, json_t *warnings, fail_t *err)
{
    json_auto_t *opts = json_object(), *notes = json_array();
    size_t n;
    const option_row_t *rows = conf_rows(&n);

    /* The default of every option of this side. Options without a default stay absent. */
    for (size_t i = 0; i < n; i++) {
        json_t *v = (rows[i].side & side) != 0 ? conf_default(&rows[i]) : NULL;
        if (v != NULL)
            json_object_set_new_nocheck(opts, rows[i].name, v);
    }
    /* Salt's opts: conf_file, config_dir, __role. */
    const char *role = side == CONF_MASTER ? "master" : "minion";
    AUTO_FREE char *file = fs_join(dir, role);
    json_object_set_new(opts, "conf_file", value_utf8(file, strlen(file)));
    json_object_set_new(opts, "config_dir", value_utf8(dir, strlen(dir)));
    json_object_set_new(opts, "__role", json_string(role));
    if (conf_apply(opts, said, side, notes, warnings, err) < 0 ||
        conf_finish(opts, said, side, warnings, err) < 0)
        return NULL;
    conf_t *self = xcalloc(1, sizeof(*self));
    self->opts = STEAL(opts);
    self->notes = STEAL(notes);
    return self;
}

/* Reads the files, and lays the options of the command line over theirs. */
static int
conf_gather(const char *dir, conf_side_t side, const json_t *overrides, conf_said_t *said, json_t *warnings,
            fail_t *err)
{
    int rc = conf_read(dir, side, said, warnings, err);
    json_t *from = (json_t *) overrides; /* for jansson's iterator; nothing is changed */

    for (void *it = rc == 0 ? json_object_iter(from) : NULL; it != NULL;
         it = json_object_iter_next(from, it)) {
        json_object_set(said->values, json_object_iter_key(it), json_object_iter_value(it));
        json_object_set_new(said->where, json_object_iter_key(it), json_string(CONF_COMMAND_LINE));
    }
    return rc;
}

conf_t *
conf_load(const char *dir, conf_side_t side, const json_t *overrides, json_t *warnings, fail_t *err)
{
    conf_said_t said = { 0 };
    conf_t *self = NULL;

    if (conf_gather(dir, side, overrides, &said, warnings, err) == 0) {
        conf_addresses_drop(&said, side);
        self = conf_build(dir, side, &said, warnings, err);
    }
    conf_said_free(&said);
    return self;
}

conf_t *
conf_load_whole(const char *dir, conf_side_t side, const json_t *overrides, int wait_ms, json_t *warnings,
                fail_t *err)
{
    conf_said_t said = { 0 };
    conf_t *self = NULL;

    if (conf_gather(dir, side, overrides, &said, warnings, err) == 0 &&
        conf_addresses_resolve(dir, side, &said, wait_ms, warnings, err) == 0)
        self = conf_build(dir, side, &said, warnings, err);
    conf_said_free(&said);
    return self;
}

conf_t *
conf_of(const char *dir, conf_side_t side, const json_t *values, fail_t *err)
{
    conf_said_t said = { .values = json_copy((json_t *) values), .where = json_object() };

    conf_addresses_drop(&said, side);
    conf_t *self = conf_build(dir, side, &said, NULL, err);
    conf_said_free(&said);
    return self;
}

const json_t *
conf_notes(const conf_t *self)
{
    return self->notes;
}

json_t *
conf_opts(const conf_t *self)
{
    return self->opts;
}

json_t *
conf_get(const conf_t *self, const char *name)
{
    return json_object_get(self->opts, name);
}

const char *
conf_str(const conf_t *self, const char *name)
{
    return value_str(self->opts, name, "");
}

json_int_t
conf_int(const conf_t *self, const char *name)
{
    double d = value_num(self->opts, name, 0.0);

    /* An option that may have a fraction is cut, not lost. */
    return json_is_real(value_get(self->opts, name)) && d > -0x1p63 && d < 0x1p63
               ? (json_int_t) d
               : value_int(self->opts, name, 0);
}

double
conf_float(const conf_t *self, const char *name)
{
    return value_num(self->opts, name, 0.0);
}

bool
conf_bool(const conf_t *self, const char *name)
{
    return value_bool(self->opts, name, false);
}
