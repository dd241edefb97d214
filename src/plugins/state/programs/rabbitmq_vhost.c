/* rabbitmq_vhost.c - state module `rabbitmq_vhost`: virtual hosts of a RabbitMQ broker. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The words of one direction. */
typedef struct vhost_words {
    bool present;
    const char *fun, *answer, *already, *told;
} vhost_words_t;

static const vhost_words_t vhost_adds = { true, "rabbitmq.add_vhost", "Added",
                                          "Virtual Host '%s' already exists.",
                                          "Virtual Host '%s' will be created." };
static const vhost_words_t vhost_removes = { false, "rabbitmq.delete_vhost", "Deleted",
                                             "Virtual Host '%s' is not present.",
                                             "Virtual Host '%s' will be removed." };

/* The row's direction. */
static int
vhost_state(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const vhost_words_t *w = ctx_row(ctx)->data.ptr;
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *already = str_replace(w->already, "%s", name), *told = str_replace(w->told, "%s", name);
    int there = sub_call_bool(ctx, err, "rabbitmq.vhost_exists", "{s:s}", "name", name);

    if (there < 0)
        return there;
    if ((there > 0) == w->present)
        return state_ret_set(ret, STATE_TRUE, "%s", already);
    state_change_set(ret,
                     json_pack("{s:s, s:s}", "old", w->present ? "" : name, "new", w->present ? name : ""));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s", told);
    json_auto_t *done = sub_call(ctx, err, w->fun, "{s:s}", "vhost", name);
    return done != NULL ? state_ret_set(ret, STATE_TRUE, "%s", value_str(done, w->answer, "")) : err->code;
}

static const char *
state_rabbitmq_vhost_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("rabbitmqctl");

    return path != NULL ? NULL : "Command not found: rabbitmqctl";
}

static const arg_t vhost_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The virtual host"), ARGS_END };

static const func_t funcs[] = {
    { "absent", vhost_state, vhost_args, 0, "Ensure that a virtual host is not there.",
      .data.ptr = &vhost_removes },
    { "present", vhost_state, vhost_args, 0, "Ensure that a virtual host is there.",
      .data.ptr = &vhost_adds },
};

PLUGIN(state, rabbitmq_vhost, .doc = "Virtual hosts of RabbitMQ", FUNCS(funcs),
       .unavailable = state_rabbitmq_vhost_unavailable);
