/* masterline.c - see masterline.h. Reads the configuration of the master on this host, connects to its
 * socket, sends the request and waits for what follows: returns of a job, or the outcome of a runner. */
#include "plugins/lib/salt/masterline.h"

#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/local/client.h"
#include "salt/limits.h"
#include "salt/value.h"

#define TIMEOUT_S 5

static bool
masterline_is(const json_t *push, const char *kind)
{
    return str_eq(value_str(push, "push", ""), kind);
}

/* Gathers what follows a publish. `answer` gets "returns". */
static int
masterline_returns(local_client_t *line, int timeout_ms, json_t *answer, fail_t *err)
{
    json_t *returns = json_object();
    json_auto_t *running = json_object();
    json_object_set_new(answer, "returns", returns);
    if (json_array_size(value_get(answer, "minions")) == 0)
        return 0;
    for (;;) {
        json_auto_t *push = NULL;
        int rc = local_next(line, timeout_ms, &push, err);
        if (rc < 0 || (rc == 0 && json_object_size(running) == 0) || masterline_is(push, "done"))
            return rc < 0 ? rc : 0;
        const char *id = value_str(push, "id", "");
        if (masterline_is(push, "ret")) {
            json_object_set(returns, id, push);
            json_object_del(running, id);
        } else if (masterline_is(push, "verdict") && str_eq(value_str(push, "verdict", ""), "running")) {
            json_object_set_new(running, id, json_true());
        } else if (masterline_is(push, "verdict")) {
            json_object_del(running, id);
        }
    }
}

/* Waits without a limit, as a runner may take long. `answer` gets its members. */
static int
masterline_outcome(local_client_t *line, json_t *answer, fail_t *err)
{
    for (;;) {
        json_auto_t *push = NULL;
        int rc = local_next(line, -1, &push, err);
        if (rc < 0)
            return rc;
        if (masterline_is(push, "runner")) {
            json_object_del(push, "push");
            (void) json_object_update(answer, push);
            return 0;
        }
    }
}

/* TAKES *request_p. */
int
masterline_ask(const char *conf_dir, json_t **request_p, json_t **ret_answer, fail_t *err)
{
    json_auto_t *request = STEAL(*request_p);
    AUTO(conf) conf = conf_load(conf_dir, CONF_MASTER, NULL, NULL, err);
    AUTO(local_client) line = conf != NULL ? local_connect(conf_str(conf, "sock_dir"), err) : NULL;
    if (line == NULL)
        return err != NULL && err->code ? err->code : -ENOENT;
    const char *op = value_str(request, "op", "");
    bool publish = str_eq(op, "publish"), job = str_eq(op, "runner") || str_eq(op, "wheel");
    json_int_t timeout = value_int(request, "timeout", TIMEOUT_S);
    timeout = timeout < 0 ? TIMEOUT_S : timeout < LIMIT_SILENCE_S ? timeout : LIMIT_SILENCE_S;
    AUTO_FREE char *fun = xstrdup(value_str(request, "fun", ""));
    if (publish || job)
        json_object_set_new(request, "follow", json_true());
    json_t *own = json_incref(request);
    json_auto_t *answer = NULL;
    int rc = local_call(line, &own, &answer, err);
    if (rc == 0 && publish)
        rc = masterline_returns(line, (int) timeout * 1000, answer, err);
    else if (rc == 0 && job) {
        json_object_set_new(answer, "fun", json_string(fun));
        rc = masterline_outcome(line, answer, err);
    }
    if (rc == 0)
        *ret_answer = STEAL(answer);
    return rc;
}
