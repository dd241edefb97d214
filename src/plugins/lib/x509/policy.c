/* policy.c - arguments of x509's functions: names of the older module, and signing policies of this minion or
 * a ca_server. */
#include "common/base/str.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/issue.h"

/* Names of the older module's arguments are translated, and those without a meaning here dropped. */
void
issue_compat(json_t *args)
{
    static const char *const renamed[][2] = { { "algorithm", "digest" }, { "bits", "keysize" } };
    static const char *const unused[] = { "text", "version", "serial_bits", "cipher", "verbose" };

    for (size_t i = 0; i < NELEMS(renamed); i++) {
        json_t *v = value_get(args, renamed[i][0]);
        if (v != NULL && !json_is_null(v))
            json_object_set(args, renamed[i][1], v);
        json_object_del(args, renamed[i][0]);
    }
    for (size_t i = 0; i < NELEMS(unused); i++)
        json_object_del(args, unused[i]);
    dn_short_names(args);
    ext_short_names(args);
}

json_t *
issue_args(const json_t *args)
{
    json_t *all = json_object(), *v;
    const char *key;

    json_object_foreach ((json_t *) args, key, v)
        if (!json_is_null(v) && !str_eq(key, "kwargs"))
            json_object_set(all, key, v);
    json_object_foreach (value_get(args, "kwargs"), key, v)
        if (!str_starts(key, "__"))
            json_object_set(all, key, v);
    issue_compat(all);
    return all;
}

/* The value of x509_signing_policies by one of these functions, its policy of the name: a mapping, or a list
 * of them. NEW or NULL. */
static json_t *
policy_by(call_ctx_t *ctx, const char *fun, const char *name)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *args = json_pack("[s]", "x509_signing_policies"), *all = NULL;
    json_t *found, *merged, *one;
    size_t i;

    if (ctx_call(ctx, fun, args, NULL, &all, &why) != 0)
        return NULL;
    found = value_get(all, name);
    if (!value_truthy(found))
        return NULL;
    if (!json_is_array(found))
        return json_is_object(found) ? json_deep_copy(found) : NULL;
    merged = json_object();
    json_array_foreach (found, i, one)
        json_object_update(merged, one);
    return merged;
}

/* The pillar goes before the configuration. A name that is unknown is an empty policy. */
json_t *
policy_own(call_ctx_t *ctx, const json_t *name)
{
    json_t *policy = NULL;

    if (!json_is_string(name))
        return json_object();
    policy = policy_by(ctx, "pillar.get", json_string_value(name));
    if (policy == NULL)
        policy = policy_by(ctx, "config.get", json_string_value(name));
    policy = policy != NULL ? policy : json_object();
    dn_short_names(policy);
    ext_short_names(policy);
    return policy;
}

/* By publish.publish, so the master's peer option decides. The answer is {"data", "errors"}. */
int
policy_ask(call_ctx_t *ctx, const json_t *ca_server, const json_t *policy, const json_t *args,
           bool only_policy, json_t **ret_data, fail_t *err)
{
    json_auto_t *answers = NULL;
    json_auto_t *call = json_pack("[O, s]", ca_server, "x509.sign_remote_certificate");
    json_auto_t *kwargs = json_pack("{s:[O, O, b]}", "arg", policy, args, only_policy);

    if (!ctx_has(ctx, "publish.publish"))
        return fail_kind(err, FAIL_COMMAND, -ENOSYS,
                         "ca_server needs the function publish.publish, which this minion does not have");
    if (ctx_call(ctx, "publish.publish", call, kwargs, &answers, err) != 0)
        return err->code;
    json_t *answer = json_object_iter_value(json_object_iter(answers));
    if (answer == NULL)
        return fail_kind(
            err, FAIL_INVOCATION, -EACCES,
            "ca_server did not respond. Salt master must permit peers to call the sign_remote_certificate "
            "function.");
    if (value_get(answer, "data") == NULL)
        return fail_kind(err, FAIL_COMMAND, -EPROTO,
                         "Received invalid return value from ca_server. See minion log for details");
    if (value_truthy(value_get(answer, "errors"))) {
        AUTO_FREE char *lines = value_joined(value_get(answer, "errors"), "\n");
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "ca_server reported errors:\n%s", lines);
    }
    *ret_data = json_incref(value_get(answer, "data"));
    return 0;
}

/* A ca_server's policies are asked for once in a run. */
static int
policy_remote(call_ctx_t *ctx, const json_t *name, const json_t *ca_server, json_t **ret_policy, fail_t *err)
{
    json_t *kept = value_get(ctx_context(ctx), "_x509_policies");
    AUTO_FREE char *server = value_pystr(ca_server), *policy = value_pystr(name),
                   *key = xasprintf("%s %s", server, policy);

    if (kept == NULL)
        json_object_set_new(ctx_context(ctx), "_x509_policies", kept = json_object());
    if (value_get(kept, key) == NULL) {
        json_auto_t *none = json_object(), *told = NULL;
        if (policy_ask(ctx, ca_server, name, none, true, &told, err) != 0)
            return err->code;
        if (!json_is_object(told))
            return fail_kind(err, FAIL_COMMAND, -EPROTO, "ca_server returned no signing policy");
        json_object_set(kept, key, told);
    }
    *ret_policy = json_deep_copy(value_get(kept, key));
    dn_short_names(*ret_policy);
    ext_short_names(*ret_policy);
    return 0;
}

/* The ca_server's where there is one, else this minion's. */
int
policy_get(call_ctx_t *ctx, const json_t *name, const json_t *ca_server, json_t **ret_policy, fail_t *err)
{
    if (value_truthy(ca_server))
        return policy_remote(ctx, name, ca_server, ret_policy, err);
    *ret_policy = policy_own(ctx, name);
    return 0;
}

/* Mappings of both are one, lists follow each other; otherwise the policy's subject counts. */
static void
merge_subject(const json_t *policy, json_t *args)
{
    json_t *own = value_get(args, "subject"), *must = value_get(policy, "subject");

    if (own == NULL || must == NULL || dn_given(policy))
        return;
    if (json_is_object(own) && json_is_object(must)) {
        json_t *both = json_copy(own);
        json_object_update(both, must);
        json_object_set_new(args, "subject", both);
    } else if (json_is_array(own) && json_is_array(must)) {
        json_t *both = json_copy(must);
        json_array_extend(both, own);
        json_object_set_new(args, "subject", both);
    } else {
        json_object_set(args, "subject", must);
    }
}

/* The policy has the last word: its settings replace the call's. `minions` is for the ca_server alone. */
void
policy_merge(const json_t *policy, json_t *args)
{
    json_t *v;
    const char *key;

    issue_compat(args);
    if (dn_given(policy))
        json_object_del(args, "subject");
    bool merged = value_get(args, "subject") != NULL;
    merge_subject(policy, args);
    json_object_foreach ((json_t *) policy, key, v)
        if (!str_eq(key, "subject") || !merged)
            json_object_set(args, key, v);
    json_object_del(args, "minions");
    issue_compat(args);
}
