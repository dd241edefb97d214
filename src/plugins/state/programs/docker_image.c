/* docker_image.c - state module `docker_image`: images of a Docker Engine or of podman. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/docker/dockerstate.h"

/* The image wanted, and how it comes. */
typedef struct wanted {
    char *name, *tag, *full;           /* owned; tag NULL: none */
    const char *build, *load, *action; /* BORROWED */
} wanted_t;

/* False with the state's comment. */
static bool
wanted_read(wanted_t *self, const json_t *args, json_t *ret)
{
    json_t *tag = value_get(args, "tag");
    const json_t *sls = value_get(args, "sls");
    size_t ways;

    self->name = value_pystr(value_get(args, "name"));
    self->tag = value_truthy(tag) ? value_pystr(tag) : NULL;
    self->build = value_str(args, "build", NULL);
    self->load = value_str(args, "load", NULL);
    self->action = self->build != NULL ? "built" : self->load != NULL ? "loaded" : "pulled";
    ways = (self->build != NULL) + (self->load != NULL) + (size_t) !json_is_null(sls);
    if (ways > 1)
        return state_ret_set(ret, STATE_FALSE, "Only one of 'build', 'load', or 'sls' is permitted.") != 0;
    if (ways == 1 && self->tag == NULL)
        return state_ret_set(
                   ret, STATE_FALSE,
                   "The 'tag' argument is required if any one of 'build', 'load', or 'sls' is used.") != 0;
    if (!json_is_null(sls))
        return state_ret_set(
                   ret, STATE_FALSE,
                   "Images can't be built of SLS files here: build one of a Dockerfile (build), or load one") !=
               0;
    self->full = self->tag != NULL ? xasprintf("%s:%s", self->name, self->tag) : xstrdup(self->name);
    return true;
}

/* Brings the image. NEW return of the function, or NULL with the state's comment. */
static json_t *
docker_image_bring(call_ctx_t *ctx, const wanted_t *self, const json_t *args, json_t *ret, fail_t *err)
{
    json_t *done;

    if (self->build != NULL) {
        json_auto_t *kwargs = json_is_object(value_get(value_get(args, "kwargs"), "kwargs"))
                                  ? json_copy(value_get(value_get(args, "kwargs"), "kwargs"))
                                  : json_object();
        json_object_set_new(kwargs, "path", json_string(self->build));
        json_object_set_new(kwargs, "repository", json_string(self->name));
        json_object_set_new(kwargs, "tag", json_string(self->tag));
        json_object_set(kwargs, "dockerfile", value_get(args, "dockerfile"));
        done = NULL;
        if (ctx_call(ctx, "docker.build", NULL, kwargs, &done, err) < 0)
            state_ret_set(ret, STATE_FALSE, "Encountered error building %s as %s: %s", self->build,
                          self->full, fail_text(err));
    } else if (self->load != NULL) {
        done = sub_call(ctx, err, "docker.load", "{s:s, s:s, s:s}", "path", self->load, "repository",
                        self->name, "tag", self->tag);
        if (done == NULL)
            state_ret_set(ret, STATE_FALSE, "Encountered error loading %s as %s: %s", self->load, self->full,
                          fail_text(err));
    } else {
        done = sub_call(ctx, err, "docker.pull", "{s:s, s:O}", "image", self->full, "client_timeout",
                        value_get(args, "client_timeout"));
        if (done == NULL)
            state_ret_set(ret, STATE_FALSE, "Encountered error pulling %s: %s", self->full, fail_text(err));
    }
    fail_clear(err);
    return done;
}

/* Whether what was brought is another image than before. */
static bool
is_news(const wanted_t *self, const json_t *before, const json_t *done)
{
    if (!json_is_object(before))
        return true;
    if (self->build != NULL) {
        const char *id = value_str(before, "Id", ""),
                   *own = strchr(id, ':') != NULL ? strchr(id, ':') + 1 : id,
                   *now = value_str(done, "Id", "");
        return strncmp(own, now, strlen(now)) != 0;
    }
    if (self->load != NULL)
        return value_truthy(value_get(done, "Layers"));
    return value_truthy(value_path(done, "Layers:Pulled", ":"));
}

/* 0 with the state's return made, or negative. */
static int
docker_image_present_in(call_ctx_t *ctx, const wanted_t *self, const json_t *args, json_t *ret, fail_t *err)
{
    json_auto_t *before = sub_call(ctx, err, "docker.inspect_image", "{s:s}", "name", self->full);

    if (before == NULL && err->code != -ENOENT)
        return state_ret_fail(ret, err);
    fail_clear(err);
    if (before != NULL && !value_bool(args, "force", false))
        return state_ret_set(ret, STATE_TRUE, "Image %s already present", self->full);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Image %s will be %s", self->full, self->action);
    json_t *done = docker_image_bring(ctx, self, args, ret, err);
    if (done == NULL)
        return 0;
    bool news = is_news(self, before, done);
    if (news)
        state_change_set(ret, done);
    else
        json_decref(done);
    json_auto_t *after = sub_call(ctx, err, "docker.inspect_image", "{s:s}", "name", self->full);
    if (after == NULL) {
        state_ret_set(ret, STATE_FALSE, "Failed to inspect image '%s' after it was %s: %s", self->full,
                      self->action, fail_text(err));
        fail_clear(err);
        return 0;
    }
    return news ? state_ret_set(ret, STATE_TRUE, "Image '%s' was %s", self->full, self->action)
                : state_ret_set(ret, STATE_TRUE, "Image '%s' was %s, but there were no changes", self->full,
                                self->action);
}

static int
docker_image_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    wanted_t wanted = { 0 };
    json_t *ret = *ret_value = state_ret_args(args);
    int rc = wanted_read(&wanted, args, ret) ? docker_image_present_in(ctx, &wanted, args, ret, err) : 0;

    free(wanted.name);
    free(wanted.tag);
    free(wanted.full);
    return rc;
}

/* The tags of the images that are there. NEW, or NULL with *err. */
static json_t *
tags_there(call_ctx_t *ctx, const json_t *targets, fail_t *err)
{
    json_auto_t *out = json_array();
    json_t *one;
    size_t i;

    json_array_foreach (targets, i, one) {
        json_auto_t *tag = sub_call(ctx, err, "docker.resolve_tag", "{s:O}", "name", one);
        if (tag == NULL)
            return NULL;
        if (!json_is_false(tag))
            json_array_append(out, tag);
    }
    return json_incref(out);
}

/* Names become the tags that the engine has. An image is gone when its tag is, even where the engine keeps
 * its layers. */
static int
docker_image_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *name = value_get(args, "name"),
           *images = value_get(args, "images");

    if (!value_truthy(name) && !value_truthy(images))
        return state_ret_set(ret, STATE_FALSE, "One of 'name' and 'images' must be provided");
    json_auto_t *alone = json_pack("[O]", name);
    json_auto_t *targets = docker_stringlist(value_truthy(images) ? images : alone);
    json_auto_t *tags = tags_there(ctx, targets, err);
    if (tags == NULL)
        return state_ret_fail(ret, err);
    if (json_array_size(tags) == 0)
        return json_array_size(targets) == 1
                   ? state_ret_set(ret, STATE_TRUE, "Image %s is not present",
                                   json_string_value(json_array_get(targets, 0)))
                   : state_ret_set(ret, STATE_TRUE, "All specified images are not present");
    AUTO_FREE char *names = value_joined(tags, ", ");
    if (ctx_test(ctx))
        return json_array_size(tags) == 1
                   ? state_ret_set(ret, STATE_NONE, "Image %s will be removed", names)
                   : state_ret_set(ret, STATE_NONE, "The following images will be removed: %s", names);

    /* Removes them and tells what is left. */
    json_auto_t *kwargs = json_pack("{s:b}", "force", value_bool(args, "force", false));
    json_t *done = NULL, *one;
    size_t i;
    if (ctx_call(ctx, "docker.rmi", tags, kwargs, &done, err) < 0)
        return state_ret_fail(ret, err);
    json_auto_t *result = done;
    json_auto_t *left = sub_call(ctx, err, "docker.list_tags", NULL);
    if (left == NULL)
        return state_ret_fail(ret, err);
    json_auto_t *failed = json_array();
    json_array_foreach (tags, i, one) {
        if (value_has(left, one))
            json_array_append(failed, one);
    }
    AUTO_FREE char *still = value_joined(failed, ", ");
    AUTO_FREE char *errors = value_joined(value_get(result, "Errors"), "; ");
    if (json_array_size(failed) == json_array_size(tags))
        return state_ret_set(ret, STATE_FALSE, "None of the specified images were removed%s%s",
                             value_get(result, "Errors") != NULL ? ". The following errors were encountered: "
                                                                 : "",
                             value_get(result, "Errors") != NULL ? errors : "");
    state_change_set(ret, json_incref(result));
    if (json_array_size(failed) > 0)
        return state_ret_set(ret, STATE_FALSE, "The following image(s) failed to be removed: %s", still);
    return json_array_size(tags) == 1
               ? state_ret_set(ret, STATE_TRUE, "Image %s was removed", names)
               : state_ret_set(ret, STATE_TRUE, "The following images were removed: %s", names);
}

/* Only an image that shall be there can be brought anew. */
static int
docker_image_mod_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *given = json_copy(value_get(args, "kwargs"));

    if (strcmp(value_str(args, "sfun", ""), "present") == 0) {
        json_object_set(given, "name", value_get(args, "name"));
        json_object_set_new(given, "force", json_true());
        return ctx_state(ctx, "docker_image.present", given, ret_value, err);
    }
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_FALSE, "watch requisite is not implemented for %s",
                         value_str(args, "sfun", ""));
}

static const arg_t present_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "Repository of the image, with its tag unless `tag` says it"),
    ARG("tag", ARG_ANY, "null", "Its tag"),
    ARG("build", ARG_STR, "null", "Folder with a Dockerfile, of which it is built"),
    ARG("load", ARG_STR, "null", "File that it is loaded from"),
    ARG("force", ARG_BOOL, "false", "Also when it is there"),
    ARG("insecure_registry", ARG_BOOL, "false", "Accepted for Salt's sake"),
    DOCKER_ROW_TIMEOUT,
    ARG("dockerfile", ARG_ANY, "null", "Name of the Dockerfile in the folder"),
    ARG("sls", ARG_ANY, "null", "Refused: there is no building of SLS files here"),
    ARG("base", ARG_ANY, "\"opensuse/python\"", "Accepted for Salt's sake"),
    ARG("saltenv", ARG_ANY, "\"base\"", "Accepted for Salt's sake"),
    ARG("pillarenv", ARG_ANY, "null", "Accepted for Salt's sake"),
    ARG("pillar", ARG_ANY, "null", "Accepted for Salt's sake"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "kwargs: more arguments of docker.build", "kwargs"),
    ARGS_END,
};
static const arg_t absent_args[] = {
    ARG("name", ARG_ANY, "null", "Name of the image"),
    ARG("images", ARG_ANY, "null", "Names instead"),
    ARG("force", ARG_BOOL, "false", "Also when a container was made of it"),
    ARGS_END,
};
static const arg_t watch_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "Name of the image"),
    ARG("sfun", ARG_STR, "null", "The function that watches"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its arguments"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "absent", docker_image_state_absent, absent_args, 0, "The image is not there." },
    { "mod_watch", docker_image_mod_watch, watch_args, 0,
      "What the functions do when a watched state has changed." },
    { "present", docker_image_state_present, present_args, 0,
      "The image is there: pulled, built or loaded." },
};

PLUGIN(state, docker_image, .doc = "Images of a Docker Engine", FUNCS(funcs));
