/* completion.c - see completion.h: shell completion. The position of the cursor decides what is offered;
 * names come from the running master within PATIENCE_MS, else from the configuration and file roots. */
#include "cli/completion.h"

#include "cli/opts.h"
#include "common/base/str.h"
#include "common/cli/optrow.h"
#include "common/conf/startup.h"
#include "common/local/client.h"
#include "salt/value.h"

#define PATIENCE_MS 500 /* a master that is busy for longer has no names: the shell waits meanwhile */

typedef void offer_fn(completion_t *self);

/* ---- where names come from ------------------------------------------------------------------- */

/* False when no master runs, so that the caller may offer what it finds itself. */
bool
completion_ask(completion_t *self, const char *op, json_t *request)
{
    AUTO(local_client) line = local_connect(conf_str(self->conf, "sock_dir"), NULL);
    json_auto_t *reply = NULL;

    json_object_set_new(request, "op", json_string(op));
    json_object_set_new(request, "prefix", value_utf8(self->c.part, strlen(self->c.part)));
    if (line == NULL) {
        json_decref(request);
        return false;
    }
    local_timeout(line, PATIENCE_MS, NULL);
    if (local_call(line, &request, &reply, NULL) == 0)
        complete_offer_all(&self->c, value_get(reply, "names"));
    return true;
}

static void
ask_kind(completion_t *self, const char *kind)
{
    (void) completion_ask(self, "names", json_pack("{s:s}", "kind", kind));
}

static void
offer_minions(completion_t *self)
{
    ask_kind(self, "minions");
}

static void
completion_offer_functions(completion_t *self)
{
    complete_split(&self->c, ',');
    ask_kind(self, "functions");
}

static void
offer_runners(completion_t *self)
{
    ask_kind(self, "runners");
}

static void
offer_wheels(completion_t *self)
{
    ask_kind(self, "wheels");
}

static void
offer_jids(completion_t *self)
{
    ask_kind(self, "jids");
}

static void
completion_offer_sls(completion_t *self)
{
    complete_split(&self->c, ',');
    if (!completion_ask(self, "names", json_pack("{s:s, s:s*}", "kind", "sls", "saltenv", self->sls_env)))
        complete_sls(&self->c, conf_opts(self->conf), self->sls_env);
}

static void
offer_keys_of(completion_t *self, const char *option)
{
    const char *key;
    json_t *dirs = conf_get(self->conf, option), *value;

    json_object_foreach (dirs, key, value)
        complete_offer(&self->c, key);
}

static void
offer_saltenvs(completion_t *self)
{
    if (!completion_ask(self, "names", json_pack("{s:s}", "kind", "saltenvs")))
        offer_keys_of(self, "file_roots");
}

static void
offer_pillarenvs(completion_t *self)
{
    offer_keys_of(self, "pillar_roots");
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Known arguments of functions, by name. The first is the function; 0: any. */
static const struct argument {
    const opt_spec_t *spec;
    const char *fun;
    size_t at;
    offer_fn *offer;
} arguments[] = {
    { &opts_salt, "state.apply", 1, completion_offer_sls },
    { &opts_salt, "state.sls", 1, completion_offer_sls },
    { &opts_salt, "state.sls_exists", 1, completion_offer_sls },
    { &opts_salt, "state.sls_id", 2, completion_offer_sls },
    { &opts_salt, "state.show_sls", 1, completion_offer_sls },
    { &opts_salt, "state.show_low_sls", 1, completion_offer_sls },
    { &opts_salt, "sys.doc", 0, completion_offer_functions },
    { &opts_salt, "sys.argspec", 0, completion_offer_functions },
    { &opts_salt, "saltutil.find_job", 1, offer_jids },
    { &opts_salt, "saltutil.kill_job", 1, offer_jids },
    { &opts_salt, "saltutil.signal_job", 1, offer_jids },
    { &opts_salt, "saltutil.term_job", 1, offer_jids },
    { &opts_run, "jobs.exit_success", 1, offer_jids },
    { &opts_run, "jobs.list_job", 1, offer_jids },
    { &opts_run, "jobs.lookup_jid", 1, offer_jids },
    { &opts_run, "jobs.print_job", 1, offer_jids },
    { &opts_run, "pillar.show_pillar", 1, offer_minions },
    { &opts_run, "salt.cmd", 1, completion_offer_functions },
    { &opts_run, "salt.execute", 1, offer_minions },
    { &opts_run, "salt.execute", 2, completion_offer_functions },
    { &opts_run, "state.orch", 1, completion_offer_sls },
    { &opts_run, "state.orchestrate", 1, completion_offer_sls },
    { &opts_run, "state.orchestrate_show_sls", 1, completion_offer_sls },
};

/* The same of keyword arguments; `beside`: another that must be there. */
static const struct keyword {
    const char *fun, *beside, *name;
    offer_fn *offer;
} keywords[] = {
    { NULL, NULL, "saltenv=", offer_saltenvs },
    { NULL, NULL, "pillarenv=", offer_pillarenvs },
    { "state.orchestrate_single", "fun=salt.function", "name=", completion_offer_functions },
    { "state.orchestrate_single", "fun=salt.runner", "name=", offer_runners },
    { "state.orchestrate_single", "fun=salt.wheel", "name=", offer_wheels },
};

static bool
is_among(char *const *args, const char *word)
{
    if (word == NULL)
        return true;
    for (; *args != NULL; args++)
        if (str_eq(*args, word))
            return true;
    return false;
}

/* Counts the positional arguments before the cursor, which tells which one is completed next. */
static size_t
completion_place_of(char *const *args)
{
    size_t n = 0;

    for (; *args != NULL; args++)
        n += strchr(*args, '=') == NULL ? 1 : 0;
    return n;
}

/* `args`: the function and what stands behind it. */
static void
offer_argument(completion_t *self, const opt_spec_t *spec, char *const *args)
{
    size_t n = completion_place_of(args);

    for (size_t i = 0; args[i] != NULL; i++)
        if (str_starts(args[i], "saltenv="))
            self->sls_env = args[i] + strlen("saltenv=");

    /* Offers values of a known keyword argument. */
    for (size_t i = 0; i < NELEMS(keywords); i++) {
        const struct keyword *k = &keywords[i];
        if ((k->fun == NULL || str_eq(k->fun, args[0])) && is_among(args, k->beside) &&
            complete_lead(&self->c, k->name)) {
            k->offer(self);
            return;
        }
    }

    for (size_t i = 0; i < NELEMS(arguments); i++) {
        const struct argument *a = &arguments[i];
        if (a->spec == spec && str_eq(a->fun, args[0]) && (a->at == 0 || a->at == n)) {
            a->offer(self);
            return;
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Decides by the number of words what is completed: option value, target, function or argument. */
static void
offer(completion_t *self, const opt_spec_t *spec, completion_value_fn *value)
{
    size_t before = spec == &opts_run ? 0 : 1; /* arguments in front of the function: the target */
    char *const *args = self->c.args;
    size_t n = self->c.n_args;

    if (self->c.row != NULL) {
        AUTO_FREE char *option = optrow_key(self->c.row);
        if (!complete_choices(&self->c) && value != NULL)
            value(self, option);
    } else if (value != NULL)
        return; /* options alone */
    else if (n < before) {
        const char *type = value_str(self->c.values, "tgt_type", "glob");

        if (str_eq(type, "nodegroup"))
            offer_keys_of(self, "nodegroups");
        if (str_eq(type, "list"))
            complete_split(&self->c, ',');
        if (str_eq(type, "list") || str_eq(type, "glob"))
            offer_minions(self);
    } else if (n == before && spec == &opts_run)
        offer_runners(self);
    else if (n == before && spec == &opts_salt)
        completion_offer_functions(self);
    else if (spec != &opts_cp)
        offer_argument(self, spec, args + before);
}

int
completion_run(const opt_spec_t *spec, completion_value_fn *value, int argc, char **argv)
{
    completion_t self = { .conf = NULL };

    complete_begin(&self.c, spec, argc, argv);
    AUTO_FREE char *dir = startup_conf_dir(self.c.values);
    self.conf = conf_load(dir, CONF_MASTER, NULL, NULL, NULL);
    if (self.conf != NULL)
        offer(&self, spec, value);
    conf_destroy(&self.conf);
    complete_free(&self.c);
    return 0;
}
