/* manage.c - runner `manage`: who is up, who is down, which versions run. The master knows who is connected,
 * so no minion is asked, except for versions. After the master's start it waits for minions that are on their
 * way back. */
#include <poll.h>

#include "common/base/str.h"
#include "common/match/match.h"
#include "runners/lib/ask.h"
#include "runners/lib/refuse.h"
#include "salt/plugin.h"

#define AWAITED_MS 250 /* between two looks at who has come back */

/* ---- up and down ----------------------------------------------------------------------------- */

/* NEW {id: {connected, address, since}} of every accepted minion. */
static json_t *
runners_manage_known_minions(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *reply = ask_master(ctx, "minions", err);

    return reply != NULL ? json_incref(value_get(reply, "minions")) : NULL;
}

/* The same once each target is back or has had its time to come back: after a restart of the master nobody
 * is down for being slower than the question. */
static json_t *
settled_minions(call_ctx_t *ctx, const json_t *targets, fail_t *err)
{
    size_t most = 0;

    for (;;) {
        json_t *minions = runners_manage_known_minions(ctx, err);

        /* Targets that may still come back after the master's start. */
        size_t n = 0, i;
        json_t *id;
        json_array_foreach ((json_t *) targets, i, id)
            n += value_int(json_object_get(minions, json_string_value(id)), "awaited_ms", 0) > 0;
        size_t awaited = n;

        if (awaited == 0)
            return minions;
        json_decref(minions);
        most = awaited > most ? awaited : most;
        ctx_progress(ctx, most - awaited, most, "minions are back; the master has started a moment ago");
        (void) poll(NULL, 0, AWAITED_MS);
    }
}

/* NEW {"up": [...], "down": [...]} of the targets. */
static json_t *
runners_manage_status_of(call_ctx_t *ctx, json_t *args, fail_t *err)
{
    json_auto_t *targets = ask_targets(ctx, args, err);
    json_auto_t *minions = targets != NULL ? settled_minions(ctx, targets, err) : NULL;
    json_t *up = json_array(), *down = json_array(), *id;
    json_t *out = json_pack("{s:o, s:o}", "up", up, "down", down);
    size_t i;

    if (minions == NULL) {
        json_decref(out);
        return NULL;
    }
    json_array_foreach (targets, i, id)
        json_array_append(
            value_bool(json_object_get(minions, json_string_value(id)), "connected", false) ? up : down, id);
    return out;
}

static int
manage_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = runners_manage_status_of(ctx, args, err);
    return *ret_value != NULL ? 0 : -EIO;
}

static int
manage_up(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *status = runners_manage_status_of(ctx, args, err);

    *ret_value = json_incref(value_get(status, "up"));
    return status != NULL ? 0 : -EIO;
}

static int
manage_down(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *status = runners_manage_status_of(ctx, args, err);
    json_t *down = value_get(status, "down");

    if (status == NULL)
        return -EIO;
    *ret_value = json_incref(down);
    if (!value_bool(args, "removekeys", false) || json_array_size(down) == 0)
        return 0;

    /* Deletes the keys of the ids; the first refusal is the error. */
    json_t *fields = json_pack("{s:s, s:O, s:[s]}", "action", "delete", "ids", down, "from", "minions");
    json_auto_t *reply = ask_master_with(ctx, "key_apply", &fields, err);
    const char *id;
    json_t *why;
    json_object_foreach (value_get(reply, "failed"), id, why)
        (void) fail_set(err, -EIO, "delete %s: %s", id, json_string_value(why));
    return reply != NULL ? err->code : -EIO;
}

/* ---- presence -------------------------------------------------------------------------------- */

/* True when a minion is in `subset`: a list of ids, or text: a network, or ids with commas. */
static bool
in_subset(const json_t *subset, const char *id, const char *address)
{
    const char *text = json_string_value(subset);

    if (!value_truthy(subset))
        return true;
    if (text != NULL && strpbrk(text, "/:") != NULL) {
        json_auto_t *grains = json_pack("{s:[s], s:[s]}", "ipv4", address, "ipv6", address);
        return match_ipcidr(text, grains);
    }
    json_auto_t *ids = ask_split(subset);
    return value_lists(ids, id) || value_lists(ids, address);
}

/* NEW sorted ids of those who are connected, or who are not. */
static json_t *
present_ids(json_t *minions, const json_t *subset, bool connected)
{
    json_auto_t *ids = json_array();
    const char *id;
    json_t *minion;

    json_object_foreach (minions, id, minion) {
        if (value_bool(minion, "connected", false) == connected &&
            in_subset(subset, id, value_str(minion, "address", "")))
            json_array_append_new(ids, json_string(id));
    }
    return value_sorted_texts(ids);
}

static int
manage_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *minions = runners_manage_known_minions(ctx, err);
    size_t i;
    json_t *id;

    if (minions == NULL)
        return -EIO;
    json_t *ids = present_ids(minions, value_get(args, "subset"), true);
    if (!value_bool(args, "show_ip", false)) {
        *ret_value = ids;
        return 0;
    }
    *ret_value = json_object();
    json_array_foreach (ids, i, id) {
        const json_t *minion = json_object_get(minions, json_string_value(id));
        json_object_set_new(*ret_value, json_string_value(id), json_string(value_str(minion, "address", "")));
    }
    json_decref(ids);
    return 0;
}

static int
manage_not_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *minions = runners_manage_known_minions(ctx, err);

    if (minions == NULL)
        return -EIO;
    *ret_value = present_ids(minions, value_get(args, "subset"), false);
    return 0;
}

/* ---- versions -------------------------------------------------------------------------------- */

/* By comparison with the master's version, worst first. */
enum { V_OFFLINE, V_OLDER, V_SAME, V_NEWER, V_LABELS };

static const char *const labels[V_LABELS] = { "Minion offline", "Minion requires update", "Up to date",
                                              "Minion newer than master" };

/* Number by number: "3006.10" is newer than "3006.9"; "1.0.0-dev" is older than "1.0.0", as semantic
 * versions are. */
static int
compare_versions(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        char *a_end, *b_end;
        if (*a == '-' || *b == '-')
            return *a != *b ? (*a == '-' ? -1 : 1) : strverscmp(a, b);
        long left = strtol(a, &a_end, 10), right = strtol(b, &b_end, 10);
        if (left != right)
            return left < right ? -1 : 1;
        if (a_end == a && b_end == b)
            return strcmp(a, b);
        a = *a_end == '.' ? a_end + 1 : a_end;
        b = *b_end == '.' ? b_end + 1 : b_end;
    }
    return 0;
}

/* `halite`: of the minion, "" when it is from before there was one. */
static int
version_label(const json_t *entry, const char *version, const char *halite)
{
    if (!str_eq(value_str(entry, "verdict", NULL), "returned") || version == NULL ||
        value_int(entry, "retcode", 0) != 0)
        return V_OFFLINE;
    int order = compare_versions(version, HALITE_VERSION);
    if (order == 0)
        order = compare_versions(halite, HALITE_RELEASE);
    return order < 0 ? V_OLDER : order == 0 ? V_SAME : V_NEWER;
}

/* "3006.0 (Halite 1.0.0)", as --version says it. NEW. */
static json_t *
version_shown(const char *version, const char *halite)
{
    return *halite != '\0' ? value_fmt("%s (Halite %s)", version, halite) : json_string(version);
}

/* Asks test.version of all minions and groups them by comparison with the master. */
static int
manage_versions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *everyone = json_string("*");
    json_auto_t *minions = ask_execute(ctx, everyone, "glob", "test.version", NULL, 0, err);
    json_auto_t *known = minions != NULL ? runners_manage_known_minions(ctx, err) : NULL;
    json_t *found[V_LABELS] = { NULL }, *entry;
    const char *id;

    if (known == NULL)
        return -EIO;
    json_object_foreach (minions, id, entry) {
        const char *version = value_str(entry, "return", NULL);
        const char *halite = value_str(json_object_get(known, id), "halite", "");
        int label = version_label(entry, version, halite);
        if (found[label] == NULL)
            found[label] = json_object();
        json_object_set_new(found[label], id,
                            label == V_OFFLINE ? json_false() : version_shown(version, halite));
    }
    *ret_value = json_object();
    for (int i = 0; i < V_LABELS; i++) {
        if (found[i] != NULL)
            json_object_set_new(*ret_value, labels[i], found[i]);
    }
    json_object_set_new(*ret_value, "Master", version_shown(HALITE_VERSION, HALITE_RELEASE));
    return 0;
}

/* ---- what needs salt-ssh --------------------------------------------------------------------- */

REFUSES(manage_bootstrap,
        "There is no salt-ssh here: install the minion on each host by its package, with the "
        "option 'master' in its configuration, then accept its key with salt-key -a ID")
REFUSES(manage_bootstrap_psexec, "There is no minion for Windows, so that there is nothing to install")
REFUSES(
    manage_safe_accept,
    "There is no salt-ssh here: compare 'salt-call --local key.finger' on the minion with 'salt-key -f ID', "
    "then accept it with salt-key -a ID; or give the minion the master's fingerprint as master_finger")
/* ---- new keys -------------------------------------------------------------------------------- */

/* The keys here follow when each minion comes with its new one: nobody is locked out. */
static int
manage_key_regen(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *everyone = json_string("*");
    json_auto_t *minions = ask_execute(ctx, everyone, "glob", "saltutil.regen_keys", NULL, 0, err);
    json_t *entry;
    const char *id;
    size_t n = 0;

    if (minions == NULL)
        return -EIO;
    json_object_foreach (minions, id, entry)
        n += str_eq(value_str(entry, "verdict", NULL), "returned") && value_int(entry, "retcode", 1) == 0;
    *ret_value = value_fmt(
        "%zu of %zu minions make new keys, which take the place of their old ones here. The others "
        "keep theirs.",
        n, json_object_size(minions));
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define ARG_TARGETS                                                                                          \
    ARG("tgt", ARG_ANY, "\"*\"", "Which minions"), ARG("tgt_type", ARG_STR, "\"glob\"", "How tgt is meant")
#define ARG_WAITING                                                                                          \
    ARG("timeout", ARG_INT, "null", "Accepted for Salt's sake: no minion is asked"),                         \
        ARG("gather_job_timeout", ARG_INT, "null", "Accepted for Salt's sake: no minion is asked")

static const arg_t status_args[] = { ARG("output", ARG_BOOL, "true", "Accepted for Salt's sake"), ARG_TARGETS,
                                     ARG_WAITING, ARGS_END };
static const arg_t up_args[] = { ARG_TARGETS, ARG_WAITING, ARGS_END };
static const arg_t down_args[] = { ARG("removekeys", ARG_BOOL, "false",
                                       "Delete the keys of those who are down"),
                                   ARG_TARGETS, ARG_WAITING, ARGS_END };
static const arg_t presence_args[] = {
    ARG("subset", ARG_ANY, "null", "Only these ids, or only from this network"),
    ARG("show_ip", ARG_BOOL, "false", "Also show where each connects from"), ARGS_END
};

static const arg_t refused_args[] = { REFUSED_ARGS, ARGS_END };

#define PRESENT(name)                                                                                        \
    ROW(name, manage_present, presence_args, FN_READONLY | FN_ACCESS_READ,                                   \
        "Print the minions that are connected now; no command is sent.\n\nsubset : None\n    A list of "     \
        "ids, or a network in CIDR form.\n\nshow_ip : False\n    Also show the address that each "           \
        "minion connects from." CLI_EXAMPLE("salt-run manage." name))
#define NOT_PRESENT(name)                                                                                    \
    ROW(name, manage_not_present, presence_args, FN_READONLY | FN_ACCESS_READ,                               \
        "Print the accepted minions that are not connected now; no command is sent.\n\nsubset : "            \
        "None\n    A list of ids to choose from." CLI_EXAMPLE("salt-run manage." name))

#define SETTLED                                                                                              \
    "After its start the master waits for minions on their way back, 15 seconds and a little more for a "    \
    "large fleet: until then none of these is down, and none loses its key."

static const func_t funcs[] = {
    PRESENT("alived"),
    PRESENT("allowed"),
    { "bootstrap", manage_bootstrap, refused_args, FN_ACCESS_ADMIN,
      "Refuse, and say how a minion is installed: there is no salt-ssh." CLI_EXAMPLE(
          "salt-run manage.bootstrap hosts='host1,host2'") },
    { "bootstrap_psexec", manage_bootstrap_psexec, refused_args, FN_ACCESS_ADMIN,
      "Refuse: there is no minion for Windows." CLI_EXAMPLE(
          "salt-run manage.bootstrap_psexec hosts='host1'") },
    { "down", manage_down, down_args, FN_ACCESS_ADMIN,
      "Print the accepted minions that are not connected. Optionally remove their keys. " SETTLED CLI_EXAMPLE(
          "salt-run manage.down\n    salt-run manage.down removekeys=True\n    salt-run manage.down "
          "tgt=\"webservers\" tgt_type=\"nodegroup\"") },
    PRESENT("joined"),
    { "key_regen", manage_key_regen, NULL, FN_ACCESS_ADMIN,
      "Give every minion that is connected a new key, which takes the place of its old one." CLI_EXAMPLE(
          "salt-run manage.key_regen") },
    PRESENT("list_state"),
    NOT_PRESENT("list_not_state"),
    NOT_PRESENT("not_alived"),
    NOT_PRESENT("not_allowed"),
    NOT_PRESENT("not_joined"),
    NOT_PRESENT("not_present"),
    NOT_PRESENT("not_reaped"),
    PRESENT("present"),
    PRESENT("reaped"),
    { "safe_accept", manage_safe_accept, refused_args, FN_ACCESS_ADMIN,
      "Refuse, and say how a key is compared before it is accepted: there is no salt-ssh." CLI_EXAMPLE(
          "salt-run manage.safe_accept my_minion") },
    { "status", manage_status, status_args, FN_READONLY | FN_ACCESS_READ,
      "Print which of the accepted minions are up and which are down. " SETTLED CLI_EXAMPLE(
          "salt-run manage.status\n    salt-run manage.status tgt=\"webservers\" tgt_type=\"nodegroup\"\n    "
          "salt-run manage.status timeout=5 gather_job_timeout=10") },
    { "up", manage_up, up_args, FN_READONLY | FN_ACCESS_READ,
      "Print the minions that are up. " SETTLED CLI_EXAMPLE(
          "salt-run manage.up\n    salt-run manage.up tgt=\"webservers\" tgt_type=\"nodegroup\"\n    "
          "salt-run manage.up timeout=5 gather_job_timeout=10") },
    { "versions", manage_versions, NULL, FN_READONLY | FN_ACCESS_READ,
      "Compare the versions of the minions with the master's: the Salt that each speaks as, and behind it "
      "which Halite it is. One without the latter is from before Halite 1.0.0." CLI_EXAMPLE(
          "salt-run manage.versions") },
};

PLUGIN(runner, manage, .doc = "Which minions are up, down, old or new", FUNCS(funcs));
