/* enginebus.c - see enginebus.h. */
#include "plugins/lib/engine/enginebus.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/log.h"

#define AGAIN_S 1.0

struct enginebus {
    call_ctx_t *ctx;
    json_t *tags; /* owned */
    local_client_t *line;
};

bool
enginebus_is_master(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_opts(ctx), "__role", ""), "master");
}

static local_client_t *
enginebus_connect(call_ctx_t *ctx, fail_t *err)
{
    const char *dir = value_str(ctx_opts(ctx), "sock_dir", "");

    return enginebus_is_master(ctx) ? local_connect(dir, err) : local_connect_minion(dir, err);
}

json_t *
enginebus_ask(call_ctx_t *ctx, json_t **request_p, fail_t *err)
{
    local_client_t *line = enginebus_connect(ctx, err);
    json_t *reply = NULL;

    if (line != NULL)
        (void) local_call(line, request_p, &reply, err);
    json_decref(STEAL(*request_p));
    local_client_destroy(&line);
    return reply;
}

enginebus_t *
enginebus_new(call_ctx_t *ctx, const json_t *tags, fail_t *err)
{
    enginebus_t *self = xcalloc(1, sizeof(*self));

    self->ctx = ctx;
    self->tags = json_array_size(tags) > 0 ? json_incref((json_t *) tags) : json_pack("[s]", "*");
    return self;
}

void
enginebus_destroy(enginebus_t **self_p)
{
    enginebus_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    local_client_destroy(&self->line);
    json_decref(self->tags);
    free(self);
}

/* 0, or a negative errno after a pause. */
static int
enginebus_listen(enginebus_t *self)
{
    fail_auto_t err = FAIL_INIT;
    json_t *request = json_pack("{s:s, s:O}", "op", "events", "tags", self->tags);
    json_auto_t *reply = NULL;

    self->line = enginebus_connect(self->ctx, &err);
    int rc = self->line != NULL ? local_call(self->line, &request, &reply, &err) : err.code;
    json_decref(request);
    if (rc == 0)
        return 0;
    log_debug("engine: %s", fail_text(&err));
    local_client_destroy(&self->line);
    clock_pause(AGAIN_S);
    return rc;
}

json_t *
enginebus_next(enginebus_t *self)
{
    for (;;) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *push = NULL;
        if (self->line == NULL && enginebus_listen(self) < 0)
            continue;
        int rc = local_next(self->line, -1, &push, &err);
        if (rc < 0 && rc != -EINTR) {
            log_info("engine: %s", fail_text(&err));
            local_client_destroy(&self->line);
        }
        if (str_eq(value_str(push, "push", ""), "missed"))
            log_warning("engine: %lld events were missed, as they came faster than they were taken",
                        (long long) value_int(push, "count", 0));
        if (str_eq(value_str(push, "push", ""), "event"))
            return json_pack("{s:O, s:O?}", "tag", value_get(push, "tag"), "data", value_get(push, "data"));
    }
}
