/* dockerrunning.c - docker_container.running: see dockerstate.h.
 *
 * A container as it would be is found by making one: that has the engine's defaults and those of its image.
 * It is compared with the one that is there, and takes its place or is removed again, in a test too. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/docker/dockerstate.h"
#include "salt/log.h"

typedef struct running {
    call_ctx_t *ctx;
    json_t *args, *ret;
    fail_t *err;
    const char *name, *image;
    json_t *image_id, *current; /* owned: ids of the images wanted and had; NULL: no container */
    json_t *networks;           /* owned */
    json_t *made;               /* owned: what docker.create returned */
    json_t *comments;           /* owned */
    const char *pre;            /* owned by `pre_text`: the state before; NULL: no container */
    json_t *pre_text;
    bool force, start, replaced;
} running_t;

/* Adds a comment. TAKES it. */
static void
dockerrunning_say(running_t *self, json_t *text)
{
    json_array_append_new(self->comments, text);
}

/* result False with the failure as a further comment. */
static void
say_failed(running_t *self, const char *before)
{
    dockerrunning_say(self, value_fmt("%s%s", before, fail_text(self->err)));
    fail_clear(self->err);
    json_object_set_new(self->ret, "result", json_false());
}

static const char *
dockerrunning_made_name(const running_t *self)
{
    return value_str(self->made, "Name", "");
}

/* changes["container"], made when it is not there. BORROWED. */
static json_t *
container_changes(running_t *self)
{
    json_t *changes = value_get(self->ret, "changes");

    if (value_get(changes, "container") == NULL)
        json_object_set_new(changes, "container", json_object());
    return value_get(changes, "container");
}

/* changes["container_id"][key] = v. TAKES it. */
static void
set_container_id(running_t *self, const char *key, json_t *v)
{
    json_t *changes = value_get(self->ret, "changes");

    if (value_get(changes, "container_id") == NULL)
        json_object_set_new(changes, "container_id", json_object());
    json_object_set_new(value_get(changes, "container_id"), key, v);
}

/* Makes the container: by its name when there is none, else by one of the engine's. */
static int
make_it(running_t *self)
{
    json_auto_t *kwargs = json_copy(value_get(self->args, "kwargs"));
    static const char *const way[] = { "skip_translate", "ignore_collisions", "validate_ip_addrs",
                                       "client_timeout" };

    /* send_signal is mod_watch's word to this state, no argument of a container. */
    json_object_del(kwargs, "send_signal");
    if (json_object_size(self->networks) > 0)
        json_object_set(kwargs, "networks", self->networks);
    for (size_t i = 0; i < NELEMS(way); i++)
        json_object_set(kwargs, way[i], value_get(self->args, way[i]));
    json_object_set_new(kwargs, "image", json_string(self->image));
    if (self->current == NULL)
        json_object_set_new(kwargs, "name", json_string(self->name));
    if (ctx_call(self->ctx, "docker.create", NULL, kwargs, &self->made, self->err) == 0)
        return 0;
    /* Only a translation that failed has arguments that are invalid; the advice helps with these alone. */
    bool invalid = strstr(fail_text(self->err), "\ninvalid:") != NULL;
    AUTO_FREE char *text = xstrdup(fail_text(self->err));
    fail_clear(self->err);
    return fail_kind(
        self->err, FAIL_COMMAND, -EINVAL, "%s%s", text,
        invalid ? "\n\nIf you feel this information is incorrect, the skip_translate argument can be used to "
                  "skip input translation for the argument(s) identified as invalid. See the documentation "
                  "for details."
                : "");
}

/* Puts the new container in the place of the old one. The old one goes first, as its ports must be free; if
 * the new one then can't have the name, both are told and nothing is undone. */
static bool
dockerrunning_take_place(running_t *self)
{
    json_t *timeout = value_get(self->args, "shutdown_timeout");
    json_auto_t *kwargs = json_pack("{s:s, s:b}", "name", self->name, "stop", 1);
    json_t *removed = NULL;

    if (timeout != NULL && !json_is_null(timeout))
        json_object_set(kwargs, "timeout", timeout);
    if (ctx_call(self->ctx, "docker.rm", NULL, kwargs, &removed, self->err) < 0) {
        say_failed(self, "");
        return false;
    }
    set_container_id(self, "removed", removed);
    int done = sub_call_bool(self->ctx, self->err, "docker.rename", "{s:s, s:s}", "name",
                             dockerrunning_made_name(self), "new_name", self->name);
    if (done < 0)
        say_failed(self, "Failed to rename temp container: ");
    dockerrunning_say(self, done > 0 ? value_fmt("Replaced container '%s'", self->name)
                                     : value_fmt("Failed to replace container '%s'", self->name));
    self->replaced = done > 0;
    return done > 0;
}

/* Negative with *err; the settings are those that the state names, for a network that it does not name
 * none. */
static int
connect_to(running_t *self, const char *container, const char *net)
{
    json_auto_t *names = json_pack("[s, s]", container, net);
    json_t *answer = NULL;
    int rc = ctx_call(self->ctx, "docker.connect_container_to_network", names, value_get(self->networks, net),
                      &answer, self->err);

    json_decref(answer);
    return rc;
}

/* Positive when it was disconnected, negative with *err. */
static int
disconnect_from(running_t *self, const char *container, const char *net)
{
    return sub_call_bool(self->ctx, self->err, "docker.disconnect_container_from_network", "{s:s, s:s}",
                         "container", container, "network_id", net);
}

/* By docker.inspect_container, so that a user's module of that name is asked. NEW, or NULL with *err. */
static json_t *
inspected(running_t *self, const char *name)
{
    return sub_call(self->ctx, self->err, "docker.inspect_container", "{s:s}", "name", name);
}

/* Gives the new container its networks; what differs from before. NEW, or NULL with *err. */
static json_t *
network_changes(running_t *self)
{
    json_auto_t *before = inspected(self, self->current != NULL ? self->name : dockerrunning_made_name(self));
    const char *net;
    json_t *conf, *given = value_get(self->args, "networks");
    const char *mode = value_str(value_get(self->args, "kwargs"), "network_mode", "");

    if (before == NULL)
        return NULL;
    json_object_foreach (self->networks, net, conf) {
        if (strcmp(net, mode) != 0 && connect_to(self, dockerrunning_made_name(self), net) < 0)
            return NULL;
    }
    json_auto_t *after = inspected(self, dockerrunning_made_name(self));
    if (after == NULL)
        return NULL;
    /* Networks that are named at all are all that the container shall have: the engine's default one goes,
     * which each new container is given. */
    if (given != NULL && !json_is_null(given)) {
        json_object_foreach (value_path(after, "NetworkSettings:Networks", ":"), net, conf) {
            if (value_get(self->networks, net) == NULL &&
                disconnect_from(self, dockerrunning_made_name(self), net) < 0)
                return NULL;
        }
        json_decref(STEAL(after));
        after = inspected(self, dockerrunning_made_name(self));
    }
    return after == NULL ? NULL
                         : sub_call(self->ctx, self->err, "docker.compare_container_networks", "{s:O, s:O}",
                                    "first", before, "second", after);
}

/* Salt's earlier releases handled empty values otherwise. */
static bool
looks_like_old_fault(const json_t *changes)
{
    const char *part, *key;
    json_t *keys, *one, *v;
    size_t i;

    json_object_foreach ((json_t *) changes, part, keys) {
        json_object_foreach (keys, key, one) {
            json_t *old = value_get(one, "old");
            bool empty = json_is_array(old) || (json_is_string(old) && json_string_length(old) == 0);
            json_array_foreach (old, i, v)
                empty = empty && json_is_string(v) && json_string_length(v) == 0;
            if (json_is_null(value_get(one, "new")) && empty)
                return true;
        }
    }
    return false;
}

/* The container that is there, compared with the new one. */
static int
compare_it(running_t *self)
{
    bool test = ctx_test(self->ctx),
         send = value_truthy(value_get(value_get(self->args, "kwargs"), "send_signal"));
    json_t *signal = value_get(self->args, "watch_action");
    json_auto_t *changes = sub_call(self->ctx, self->err, "docker.compare_containers", "{s:s, s:s, s:s}",
                                    "first", self->name, "second", dockerrunning_made_name(self), "ignore",
                                    "Hostname");

    if (changes == NULL)
        return self->err->code;
    if (json_object_size(changes) > 0) {
        if (looks_like_old_fault(changes))
            state_ret_warn(
                self->ret,
                "The detected changes may be due to incorrect handling of arguments in earlier Salt releases. If "
                "this warning persists after running the state again%s, and no changes were made to the SLS file, "
                "then please report this.",
                test ? " without test=True" : "");
        json_object_update(container_changes(self), changes);
        if (test) {
            json_object_set_new(self->ret, "result", json_null());
            dockerrunning_say(self, value_fmt("Container '%s' would be replaced", self->name));
            return 0;
        }
        if (!dockerrunning_take_place(self))
            return -EIO;
        set_container_id(self, "added", json_incref(value_get(self->made, "Id")));
        return 0;
    }
    AUTO_FREE char *word = value_pystr(signal);
    if (!send)
        dockerrunning_say(self, value_fmt("Container '%s' is already configured as specified", self->name));
    else if (test) {
        json_object_set_new(self->ret, "result", json_null());
        dockerrunning_say(self, value_fmt("Signal %s would be sent to container", word));
    } else if (sub_call_bool(self->ctx, self->err, "docker.signal", "{s:s, s:O}", "name", self->name,
                             "signal", signal) < 0) {
        say_failed(self, "Failed to signal container: ");
        return -EIO;
    } else {
        state_change(self->ret, "signal", json_incref(signal));
        dockerrunning_say(self, value_fmt("Sent signal %s to container", word));
    }
    return 0;
}

/* Updates a network of the container that stays. False: an error was said. */
static bool
update_network(running_t *self, const char *net, json_t *changes)
{
    json_auto_t *members = sub_call(self->ctx, self->err, "docker.connected", "{s:s}", "name", net);
    json_auto_t *container = inspected(self, self->name);
    bool in = value_get(value_path(container, "NetworkSettings:Networks", ":"), net) != NULL ||
              value_lists(members, self->name);
    bool disconnected = in && disconnect_from(self, self->name, net) > 0;
    bool ok = self->err->code == 0, wanted = value_get(self->networks, net) != NULL, connected = false;

    if (!ok)
        say_failed(self, "");
    if (wanted) {
        connected = connect_to(self, self->name, net) == 0;
        if (!connected) {
            ok = false;
            say_failed(self, "");
            const char *key;
            json_t *v;
            void *next;
            /* The container is out of the network and did not get in again: the changes tell that, and
             * nothing as new. */
            json_object_foreach_safe (changes, next, key, v) {
                if (!disconnected)
                    continue;
                if (json_is_null(value_get(v, "old")))
                    json_object_del(changes, key);
                else
                    json_object_set_new(v, "new", json_null());
            }
        }
    }
    if (disconnected && connected)
        dockerrunning_say(self, value_fmt("Reconnected to network '%s' with updated configuration", net));
    else if (disconnected || connected)
        dockerrunning_say(
            self, value_fmt("%s network '%s'", connected ? "Connected to" : "Disconnected from", net));
    return ok;
}

/* Networks of a container that stays. A new one has them already (see network_changes()), so they are only
 * told. */
static int
apply_networks(running_t *self, json_t *changes)
{
    json_t *net;
    size_t i;
    bool ok = true;

    if (json_object_size(changes) == 0)
        return 0;
    json_object_set(container_changes(self), "Networks", changes);
    if (ctx_test(self->ctx)) {
        json_object_set_new(self->ret, "result", json_null());
        dockerrunning_say(self, json_string("Network configuration would be updated"));
        return 0;
    }
    if (self->replaced || self->current == NULL || self->force)
        return 0;
    json_auto_t *nets = value_sorted_keys(changes);
    json_array_foreach (nets, i, net)
        ok = update_network(self, json_string_value(net), value_get(changes, json_string_value(net))) && ok;
    if (!ok)
        json_object_set_new(self->ret, "result", json_false());
    return ok ? 0 : -EIO;
}

/* The automatic addresses that a network gave when the container had started. */
static void
tell_addresses(running_t *self)
{
    static const char *const keys[] = { "IPAddress", "Gateway", "GlobalIPv6Address", "IPv6Gateway" };
    json_t *nets = value_get(value_get(value_get(self->ret, "changes"), "container"), "Networks"), *changes;
    json_auto_t *now = nets != NULL ? inspected(self, self->name) : NULL;
    const char *net;

    json_object_foreach (nets, net, changes) {
        const json_t *has = value_get(value_path(now, "NetworkSettings:Networks", ":"), net);
        if (strcmp(value_str(value_get(changes, "IPConfiguration"), "new", ""), "automatic") != 0)
            continue;
        for (size_t i = 0; i < NELEMS(keys); i++) {
            if (!value_truthy(value_get(has, keys[i])))
                continue;
            /* "automatic" said that an address would come; now there is a real one. */
            json_object_set_new(changes, keys[i],
                                json_pack("{s:n, s:O}", "old", "new", value_get(has, keys[i])));
            json_object_del(changes, "IPConfiguration");
        }
    }
    fail_clear(self->err);
}

/* Starts it, where `start` is wanted and it does not run yet, and tells what became of it. A failed start is
 * the state's failure with the changes that came before it. */
static int
start_it(running_t *self, bool stays)
{
    bool exists = self->current != NULL,
         start = stays ? self->start && !str_eq(self->pre, "running") : !exists || self->start;
    json_auto_t *post = NULL;

    if (!exists && !self->start)
        start = false;
    if (start && ctx_test(self->ctx)) {
        json_object_set_new(self->ret, "result", json_null());
        dockerrunning_say(self, json_string("Container would be started"));
        state_change_from(self->ret, "state", json_string(self->pre), json_string("running"));
        return 0;
    }
    if (start) {
        json_auto_t *done = sub_call(self->ctx, self->err, "docker.start", "{s:s}", "name", self->name);
        if (done == NULL) {
            AUTO_FREE char *why = xstrdup(fail_text(self->err));
            fail_clear(self->err);
            dockerrunning_say(self, value_fmt("Failed to start container '%s': '%s'", self->name, why));
            json_object_set_new(self->ret, "result", json_false());
            return 0;
        }
        post = json_incref(value_path(done, "state:new", ":"));
    } else
        post = sub_call_text(self->ctx, self->err, "docker.state", "{s:s}", "name", self->name);
    if (post == NULL)
        return self->err->code;
    const char *now = json_string_value(post);
    if (!ctx_test(self->ctx) && str_eq(now, "running"))
        tell_addresses(self);
    if (!str_eq(self->pre, now)) {
        state_change_from(self->ret, "state", self->pre != NULL ? json_string(self->pre) : NULL,
                          json_incref(post));
        if (self->pre != NULL)
            dockerrunning_say(
                self, value_fmt("State changed from '%s' to '%s'", self->pre, now != NULL ? now : "None"));
    }
    if (exists && !value_equal(self->current, self->image_id)) {
        dockerrunning_say(self, json_string("Container has a new image"));
        state_change_from(self->ret, "image", json_incref(self->current), json_incref(self->image_id));
    }
    if (self->start && !str_eq(now, "running") && !ctx_test(self->ctx)) {
        json_object_set_new(self->ret, "result", json_false());
        dockerrunning_say(self, json_string("Container is not running"));
    }
    return 0;
}

/* The container is made and compared; *ret_stays: the one that was there stays. */
static int
settle_it(running_t *self, bool compare, bool *ret_stays)
{
    json_auto_t *nets = network_changes(self);
    int rc = nets != NULL ? 0 : self->err->code;

    if (rc < 0)
        say_failed(self, "");
    if (rc == 0 && compare)
        rc = compare_it(self);
    if (rc == 0)
        rc = apply_networks(self, nets);
    if (self->err->code < 0)
        say_failed(self, "");
    /* A container of a name of its own that took no place is not left behind. */
    *ret_stays = self->current != NULL && !self->replaced && (compare || rc < 0);
    if (*ret_stays || (rc < 0 && !self->replaced)) {
        fail_auto_t bad = FAIL_INIT;
        json_auto_t *gone = sub_call(self->ctx, &bad, "docker.rm", "{s:s}", "name",
                                     dockerrunning_made_name(self));
        if (gone == NULL)
            log_warning("docker_container.running: the container '%s' that was compared stays behind: %s",
                        dockerrunning_made_name(self), fail_text(&bad));
    }
    return rc;
}

/* Looks at the container that is there, makes the one that is wanted, and lets the two decide. A test makes
 * one as well, but for a container that is new or must be replaced anyway. */
static int
running_in(running_t *self)
{
    bool stays = false;
    json_auto_t *container = inspected(self, self->name);

    if (container == NULL && self->err->code != -ENOENT)
        return self->err->code;
    fail_clear(self->err);
    self->current = container != NULL ? json_incref(value_get(container, "Image")) : NULL;
    if (container != NULL)
        self->pre_text = sub_call_text(self->ctx, self->err, "docker.state", "{s:s}", "name", self->name);
    self->pre = json_string_value(self->pre_text);
    bool other = !value_equal(self->current, self->image_id),
         compare = self->current != NULL && !other && !self->force;
    if (!compare && ctx_test(self->ctx)) {
        if (self->force)
            state_change(self->ret, "forced_update", json_true());
        else
            state_change_from(self->ret, "image", self->current != NULL ? json_incref(self->current) : NULL,
                              json_incref(self->image_id));
        json_object_set_new(self->ret, "result", json_null());
        dockerrunning_say(self, value_fmt("Container '%s' would be %s", self->name,
                                          self->current != NULL ? "replaced" : "created"));
        return 0;
    }
    if (make_it(self) < 0)
        return self->err->code;
    if (!compare)
        self->force = true; /* the new one is taken whatever it has */
    if (settle_it(self, compare, &stays) < 0)
        return 0;
    if (!compare) {
        if (self->current == NULL)
            dockerrunning_say(self, value_fmt("Created container '%s'", self->name));
        else if (!dockerrunning_take_place(self)) {
            json_object_set_new(self->ret, "result", json_false());
            return 0;
        }
        set_container_id(self, "added", json_incref(value_get(self->made, "Id")));
    }
    return start_it(self, stays);
}

/* The image is resolved, and pulled, before anything is touched. */
int
docker_state_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *image = value_get(args, "image");
    AUTO_FREE char *text = value_pystr(image);
    running_t self = { .ctx = ctx,
                       .args = args,
                       .err = err,
                       .name = value_str(args, "name", ""),
                       .image = text,
                       .comments = json_array(),
                       .force = value_bool(args, "force", false),
                       .start = value_bool(args, "start", true) };
    int rc = 0;

    *ret_value = self.ret = state_ret_args(args);
    if (json_is_null(image)) {
        json_decref(self.comments);
        return state_ret_set(self.ret, STATE_FALSE, "The 'image' argument is required");
    }
    self.networks = docker_wanted_networks(ctx, value_get(args, "networks"), err);
    if (self.networks != NULL)
        self.image_id = docker_resolved_image(ctx, text, value_get(args, "client_timeout"), self.ret, err);
    rc = self.image_id != NULL ? running_in(&self) : err->code;
    if (json_array_size(self.comments) > 0)
        docker_comment(self.ret, self.comments);
    json_decref(self.image_id);
    json_decref(self.current);
    json_decref(self.networks);
    json_decref(self.made);
    json_decref(self.comments);
    json_decref(self.pre_text);
    return rc < 0 ? state_ret_fail(*ret_value, err) : 0;
}
