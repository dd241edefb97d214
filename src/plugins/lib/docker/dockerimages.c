/* dockerimages.c - images of module `docker`: see dockerfuns.h. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "plugins/lib/docker/dockerfuns.h"

enum { SHORT_ID = 12, MS_PER_S = 1000 };

static const char *
dockerimages_name_of(const json_t *args)
{
    return value_str(args, "name", "");
}

/* 1 with the id, 0 when the engine has no such image, or negative. */
int
docker_has_image(call_ctx_t *ctx, const char *name, char **ret_id, fail_t *err)
{
    json_auto_t *image = docker_image(ctx, name, err);

    *ret_id = image != NULL ? xstrdup(value_str(image, "Id", "")) : NULL;
    if (image != NULL || err->code != -ENOENT)
        return image != NULL ? 1 : err->code;
    fail_clear(err);
    return 0;
}

/* Images with a name come first, those without only when `all` are asked for; an image whose only tag is
 * "<none>:<none>", as older engines write it, has no name. */
json_t *
docker_images(call_ctx_t *ctx, bool all, fail_t *err)
{
    json_auto_t *query = json_pack("{s:b}", "all", all);
    json_auto_t *list = engine_json(
        ctx, &(engine_ask_t){ .method = "GET", .path = "/images/json", .query = query }, err);
    json_t *out, *one, *v;
    const char *key;
    size_t i;

    if (list == NULL)
        return NULL;
    out = json_object();
    for (int tagged = 1; tagged >= (all ? 0 : 1); tagged--) {
        json_array_foreach (list, i, one) {
            const json_t *tags = value_get(one, "RepoTags");
            bool has = json_is_array(tags) &&
                       !(json_array_size(tags) == 1 && value_lists(tags, "<none>:<none>"));
            if (has != (tagged == 1) || value_str(one, "Id", NULL) == NULL)
                continue;
            json_t *shown = json_object();
            json_object_foreach (one, key, v) {
                if (strcmp(key, "Created") == 0)
                    docker_add_time(shown, v);
                else if (strcmp(key, "Id") != 0)
                    json_object_set(shown, key, v);
            }
            docker_add_size(shown, "Size");
            docker_add_size(shown, "VirtualSize");
            json_object_set_new(out, value_str(one, "Id", ""), shown);
        }
    }
    return out;
}

/* `verbose` asks for each image by itself, as the list has no more than the engine's summary. */
int
docker_fn_images(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = docker_images(ctx, value_truthy(value_get(value_get(args, "kwargs"), "all")), err);
    const char *id;
    json_t *one;

    if (out == NULL)
        return err->code;
    json_object_foreach (out, id, one) {
        json_t *info = value_bool(args, "verbose", false) ? docker_image(ctx, id, err) : NULL;
        if (err->code < 0)
            return err->code;
        if (info != NULL)
            json_object_set_new(one, "Info", info);
    }
    *ret_value = json_incref(out);
    return 0;
}

int
docker_fn_inspect_image(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = docker_image(ctx, dockerimages_name_of(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* All tags of images that have one, each once. NEW, or NULL with *err. */
static json_t *
sorted_tags(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *images = docker_images(ctx, false, err);
    json_auto_t *tags = json_array();
    const char *id;
    json_t *one, *tag;
    size_t i;

    if (images == NULL)
        return NULL;
    json_object_foreach (images, id, one) {
        json_array_foreach (value_get(one, "RepoTags"), i, tag) {
            if (!value_has(tags, tag))
                json_array_append(tags, tag);
        }
    }
    return value_sorted_texts(tags);
}

int
docker_fn_list_tags(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = sorted_tags(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* False for an image that is not there, as Salt has it. */
int
docker_fn_resolve_image_id(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *id = NULL;
    int there = docker_has_image(ctx, dockerimages_name_of(args), &id, err);

    *ret_value = there == 1 ? json_string(id) : json_false();
    return there < 0 ? there : 0;
}

/* An image that is not there is false, while one that has no tag is told by its id. */
int
docker_fn_resolve_tag(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool all = value_truthy(value_get(value_get(args, "kwargs"), "all"));
    json_auto_t *image = docker_image(ctx, dockerimages_name_of(args), err);
    json_t *tags = value_get(image, "RepoTags"), *id = value_get(image, "Id");

    if (image == NULL) {
        int rc = err->code == -ENOENT ? 0 : err->code;
        if (rc == 0)
            fail_clear(err);
        *ret_value = rc == 0 ? json_false() : NULL;
        return rc;
    }
    if (json_array_size(tags) > 0)
        *ret_value = json_incref(all ? tags : json_array_get(tags, 0));
    else
        *ret_value = all ? json_pack("[O]", id) : json_incref(id);
    return 0;
}

/* The engine lists the newest step first; Salt, and a Dockerfile, the oldest. "/bin/sh -c #(nop) " is what
 * the builder puts before instructions that run nothing. */
int
docker_fn_history(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char shell[] = "/bin/sh -c ", nop[] = "#(nop) ";
    AUTO_FREE char *path = engine_path("/images/%s/history", dockerimages_name_of(args));
    json_auto_t *answer = engine_get(ctx, err, path);
    bool quiet = value_bool(args, "quiet", false);
    const char *key;
    json_t *v;

    if (answer == NULL)
        return err->code;
    *ret_value = json_array();
    for (size_t i = json_array_size(answer); i-- > 0;) {
        json_t *step = json_object();
        json_object_foreach (json_array_get(answer, i), key, v) {
            if (strcmp(key, "Created") == 0)
                docker_add_time(step, v);
            else if (strcmp(key, "CreatedBy") == 0) {
                const char *text = json_is_string(v) ? json_string_value(v) : "";
                text += str_starts(text, shell) ? strlen(shell) : 0;
                text += text != json_string_value(v) && str_starts(text, nop) ? strlen(nop) : 0;
                json_object_set_new(step, "Command", json_string(value_truthy(v) ? text : "FROM scratch"));
            } else
                json_object_set(step, key, v);
        }
        docker_add_size(step, "Size");
        json_array_append(*ret_value, quiet ? value_get(step, "Command") : step);
        json_decref(step);
    }
    return 0;
}

/* Ids of the layers, the oldest first. Layers of a pulled image have no id of their own: "<missing>". */
int
docker_fn_layers(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/images/%s/history", dockerimages_name_of(args));
    json_auto_t *answer = engine_get(ctx, err, path);

    if (answer == NULL && err->code == -ENOENT) {
        fail_clear(err);
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Image '%s' not found", dockerimages_name_of(args));
    }
    if (answer == NULL)
        return err->code;
    *ret_value = json_array();
    for (size_t i = json_array_size(answer); i-- > 0;) {
        const char *id = value_str(json_array_get(answer, i), "Id", ""), *colon = strchr(id, ':');
        json_array_append_new(*ret_value,
                              colon != NULL ? value_fmt("%.*s", SHORT_ID, colon + 1) : json_string(id));
    }
    return 0;
}

/* {"Containers", "Images"} that were made of an image. NEW, or NULL with *err. */
static json_t *
depends_on(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *image = docker_image(ctx, name, err);
    json_auto_t *containers = image != NULL ? docker_ps(ctx, NULL, true, err) : NULL;
    json_auto_t *images = containers != NULL ? docker_images(ctx, true, err) : NULL;
    json_t *out, *one, *v;
    const char *id;
    size_t i;

    if (images == NULL)
        return NULL;
    out = json_pack("{s:[], s:[]}", "Containers", "Images");
    json_object_foreach (containers, id, one) {
        if (!value_equal(value_get(one, "ImageID"), value_get(image, "Id")))
            continue;
        json_array_foreach (value_get(one, "Names"), i, v)
            json_array_append_new(value_get(out, "Containers"),
                                  json_string(json_string_value(v) + strspn(json_string_value(v), "/")));
    }
    json_object_foreach (images, id, one) {
        if (value_equal(value_get(one, "ParentId"), value_get(image, "Id")))
            json_array_append_new(value_get(out, "Images"), value_fmt("%.*s", SHORT_ID, id));
    }
    return out;
}

int
docker_fn_depends(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = depends_on(ctx, dockerimages_name_of(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* `official` and `trusted` are read as "either", as Salt reads them. */
int
docker_fn_search(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[][2] = { { "description", "Description" },
                                            { "is_official", "Official" },
                                            { "is_trusted", "Trusted" },
                                            { "star_count", "Stars" } };
    bool official = value_bool(args, "official", false), trusted = value_bool(args, "trusted", false);
    json_auto_t *query = json_pack("{s:s}", "term", dockerimages_name_of(args));
    json_auto_t *list = engine_json(
        ctx, &(engine_ask_t){ .method = "GET", .path = "/images/search", .query = query }, err);
    json_t *one, *v;
    const char *key;
    size_t i;

    if (list == NULL)
        return err->code;
    if (json_array_size(list) == 0)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "No images matched the search string '%s'",
                         dockerimages_name_of(args));
    *ret_value = json_object();
    json_array_foreach (list, i, one) {
        bool meant = !(official || trusted) || (official && value_truthy(value_get(one, "is_official"))) ||
                     (trusted && value_truthy(value_get(one, "is_trusted")));
        if (!meant || value_str(one, "name", NULL) == NULL)
            continue;
        json_t *shown = json_object();
        json_object_foreach (one, key, v) {
            const char *as = key;
            for (size_t k = 0; k < NELEMS(names); k++)
                as = strcmp(key, names[k][0]) == 0 ? names[k][1] : as;
            if (strcmp(key, "name") != 0)
                json_object_set(shown, as, v);
        }
        json_object_set_new(*ret_value, value_str(one, "name", ""), shown);
    }
    return 0;
}

/* ---- pull and push ----------------------------------------------------------------------------- */

/* "REPOSITORY[:TAG]" or "REPOSITORY@DIGEST". NEW repository; *ret_tag inside, NULL: there is none. */
static char *
cut_tag(const char *image, const char **ret_tag)
{
    char *name = xstrdup(image), *at = strrchr(name, '@'), *colon = strrchr(name, ':');
    char *cut = at != NULL ? at : colon != NULL && strchr(colon, '/') == NULL ? colon : NULL;

    *ret_tag = cut != NULL ? cut + 1 : NULL;
    if (cut != NULL)
        *cut = '\0';
    return name;
}

/* Adds an id to ret["Layers"][key], once. */
static void
add_layer(json_t *ret, const char *key, const json_t *event)
{
    json_t *id = value_get(event, "id");

    if (id == NULL)
        return;
    if (value_get(ret, "Layers") == NULL)
        json_object_set_new(ret, "Layers", json_object());
    json_t *layers = value_get(ret, "Layers");
    if (value_get(layers, key) == NULL)
        json_object_set_new(layers, key, json_array());
    if (!value_has(value_get(layers, key), id))
        json_array_append(value_get(layers, key), id);
}

/* The engine's words of a pull; other events (progress, "Pulling fs layer") are no news. */
static void
tell_pull(json_t *ret, const json_t *event)
{
    const char *status = value_str(event, "status", "");

    if (strcmp(status, "Already exists") == 0)
        add_layer(ret, "Already_Pulled", event);
    else if (strcmp(status, "Pull complete") == 0 || strcmp(status, "Download complete") == 0)
        add_layer(ret, "Pulled", event);
    else if (str_starts(status, "Status: "))
        json_object_set_new(ret, "Status", json_string(status + strlen("Status: ")));
}

/* Engines and registries of different ages say this in different words and cases. */
static void
tell_push(json_t *ret, const json_t *event)
{
    const char *status = value_str(event, "status", "");

    if (strcasestr(status, "already pushed") != NULL || strcasestr(status, "already exists") != NULL)
        add_layer(ret, "Already_Pushed", event);
    else if (strcasestr(status, "successfully pushed") != NULL || strcasecmp(status, "pushed") == 0)
        add_layer(ret, "Pushed", event);
}

/* The result of a transfer, made of its events. NEW. */
static json_t *
transfer_told(json_t *events, int64_t start, bool raw, void (*tell)(json_t *ret, const json_t *event))
{
    json_t *ret = json_pack("{s:f, s:i}", "Time_Elapsed", (double) (clock_mono_ms() - start) / MS_PER_S,
                            "retcode", 0);
    json_auto_t *errors = json_array();
    json_t *one;
    size_t i;

    if (raw)
        json_object_set(ret, "API_Response", events);
    json_array_foreach (events, i, one) {
        const json_t *detail = value_get(one, "errorDetail"), *code = value_get(detail, "code");
        if (value_get(one, "status") != NULL)
            tell(ret, one);
        else if (detail != NULL) {
            AUTO_FREE char *number = code != NULL ? value_pystr(code) : NULL;
            json_array_append_new(errors,
                                  value_fmt("%s%s%s", number != NULL ? number : "",
                                            number != NULL ? ": " : "", value_str(detail, "message", "")));
        }
    }
    if (json_array_size(errors) > 0) {
        json_object_set(ret, "Errors", errors);
        json_object_set_new(ret, "retcode", json_integer(1));
    }
    return ret;
}

/* An error of the registry is an event of a stream that begins with status 200: it is in "Errors" of the
 * answer, and no failure here. */
json_t *
docker_pull_now(call_ctx_t *ctx, const char *image, double timeout, bool raw, fail_t *err)
{
    const char *tag;
    AUTO_FREE char *name = cut_tag(image, &tag);
    AUTO_FREE char *auth = engine_auth(image);
    /* Without a tag the engine would pull all of the repository. */
    json_auto_t *query = json_pack("{s:s, s:s}", "tag", tag != NULL ? tag : "latest", "fromImage", name);
    int64_t start = clock_mono_ms();
    json_auto_t *events = engine_stream(
        ctx,
        &(engine_ask_t){
            .method = "POST", .path = "/images/create", .query = query, .field = auth, .timeout = -1 },
        err);

    if (events == NULL)
        return NULL;
    if (json_array_size(events) == 0) {
        (void) fail_kind(err, FAIL_COMMAND, -EREMOTEIO,
                         "Pull failed for %s, no response returned from Docker API", image);
        return NULL;
    }
    return transfer_told(events, start, raw, tell_pull);
}

int
docker_fn_pull(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = docker_pull_now(ctx, value_str(args, "image", ""), docker_seconds(args),
                                 value_bool(args, "api_response", false), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The header X-Registry-Auth must be there for any push; "e30=" is {}, no login. */
int
docker_fn_push(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *image = value_str(args, "image", ""), *tag;
    AUTO_FREE char *name = cut_tag(image, &tag);
    AUTO_FREE char *auth = engine_auth(image);
    AUTO_FREE char *path = engine_path("/images/%s/push", name);
    json_auto_t *query = json_pack("{s:s?}", "tag", tag);
    int64_t start = clock_mono_ms();
    json_auto_t *events = engine_stream(
        ctx,
        &(engine_ask_t){ .method = "POST",
                         .path = path,
                         .query = query,
                         .timeout = -1,
                         .field = auth != NULL ? auth : "X-Registry-Auth: e30=" },
        err);

    if (events == NULL)
        return err->code;
    *ret_value = transfer_told(events, start, value_bool(args, "api_response", false), tell_push);
    return 0;
}

/* ---- changes ----------------------------------------------------------------------------------- */

/* Removes one image; what stands against it goes to `errors`. An image may have gone since the names were
 * read, which is an error; what stands against a removal is only told, and the other images are tried. The
 * engine's 409 is told without its number, and with the users of the image that Salt finds. */
static int
remove_image(call_ctx_t *ctx, const char *name, const json_t *more, json_t *errors, fail_t *err)
{
    json_auto_t *image = docker_image(ctx, name, err);
    json_t *prune = value_get(more, "prune");
    AUTO_FREE char *path = engine_path("/images/%s", value_str(image, "Id", ""));
    fail_auto_t bad = FAIL_INIT;

    if (image == NULL)
        return err->code;
    if (engine_delete(ctx, &bad, path,
                      json_pack("{s:b, s:b}", "force", value_truthy(value_get(more, "force")), "noprune",
                                prune != NULL && !value_truthy(prune))) == 0)
        return 0;
    if (bad.code != -EBUSY) {
        json_array_append_new(errors, json_string(fail_text(&bad)));
        return 0;
    }
    json_array_append_new(errors, json_string(fail_text(&bad) + strlen("Error 409: ")));
    json_auto_t *users = depends_on(ctx, name, err);
    if (users == NULL)
        return err->code;
    AUTO_FREE char *containers = value_joined(value_get(users, "Containers"), ", ");
    AUTO_FREE char *images = value_joined(value_get(users, "Images"), ", ");
    if (*containers != '\0' || *images != '\0')
        json_array_append_new(errors, value_fmt("Image is in use by %s%s%s%s%s",
                                                *containers != '\0' ? "container(s): " : "", containers,
                                                *containers != '\0' && *images != '\0' ? " and " : "",
                                                *images != '\0' ? "image(s): " : "", images));
    return 0;
}

/* Each name is tried; the answer tells by comparison which images and tags have gone. */
int
docker_fn_rmi(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *images = docker_images(ctx, true, err);
    json_auto_t *tags = images != NULL ? sorted_tags(ctx, err) : NULL;
    json_auto_t *errors = json_array();
    json_t *one;
    size_t i;

    if (tags == NULL)
        return err->code;
    json_array_foreach (value_get(args, "names"), i, one) {
        AUTO_FREE char *name = value_pystr(one);
        if (remove_image(ctx, name, value_get(args, "kwargs"), errors, err) < 0)
            return err->code;
    }
    /* A removal may take tags and parents besides: only a comparison tells all that has gone. */
    json_auto_t *images_now = docker_images(ctx, true, err);
    json_auto_t *tags_now = images_now != NULL ? sorted_tags(ctx, err) : NULL;
    if (tags_now == NULL)
        return err->code;
    *ret_value = json_pack("{s:o, s:o, s:i}", "Layers", docker_gone(images, images_now), "Tags",
                           docker_gone(tags, tags_now), "retcode", json_array_size(errors) > 0);
    if (json_array_size(errors) > 0)
        json_object_set(*ret_value, "Errors", errors);
    return 0;
}

/* The id is asked for first, so that a name that the engine would complete means the same image. */
int
docker_fn_tag(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *image = docker_image(ctx, dockerimages_name_of(args), err);
    AUTO_FREE char *path = engine_path("/images/%s/tag", value_str(image, "Id", ""));

    if (image == NULL)
        return err->code;
    json_auto_t *answer = engine_post(ctx, err, path,
                                      json_pack("{s:O, s:O, s:b}", "repo", value_get(args, "repository"),
                                                "tag", value_get(args, "tag"), "force",
                                                value_bool(args, "force", false)),
                                      NULL);
    *ret_value = answer != NULL ? json_true() : NULL;
    return answer != NULL ? 0 : err->code;
}

/* The request has an empty object as its body: the container's own configuration stays. */
int
docker_fn_commit(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *query = json_pack("{s:s, s:O, s:O, s:O, s:O}", "container", dockerimages_name_of(args), "repo",
                              value_get(args, "repository"), "tag", value_get(args, "tag"), "comment",
                              value_get(args, "message"), "author", value_get(args, "author"));
    int64_t start = clock_mono_ms();
    json_auto_t *answer = engine_post(ctx, err, "/commit", query, json_object());

    if (answer == NULL)
        return err->code;
    if (value_str(answer, "Id", NULL) == NULL)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "No image ID was returned in API response");
    *ret_value = json_pack("{s:f, s:O}", "Time_Elapsed", (double) (clock_mono_ms() - start) / MS_PER_S, "Id",
                           value_get(answer, "Id"));
    return 0;
}

/* Images without a tag and without children. `prune` removes them by docker.rmi, each for itself, so that one
 * that is in use keeps no other. */
int
docker_fn_dangling(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *images = docker_images(ctx, true, err);
    json_auto_t *parents = json_array();
    json_auto_t *found = json_array();
    json_auto_t *force = json_pack("{s:b}", "force", value_bool(args, "force", false));
    json_auto_t *out = json_object();
    const char *id;
    json_t *one;
    size_t i;

    if (images == NULL)
        return err->code;
    json_object_foreach (images, id, one)
        json_array_append(parents, value_get(one, "ParentId"));
    json_object_foreach (images, id, one) {
        if (!value_truthy(value_get(one, "RepoTags")) && !value_lists(parents, id))
            json_array_append_new(found, value_fmt("%.*s", SHORT_ID, id));
    }
    *ret_value = json_incref(value_bool(args, "prune", false) ? out : found);
    if (!value_bool(args, "prune", false))
        return 0;
    json_array_foreach (found, i, one) {
        fail_auto_t bad = FAIL_INIT;
        json_auto_t *names = json_pack("[O]", one);
        json_t *removed = NULL;
        if (ctx_call(ctx, "docker.rmi", names, force, &removed, &bad) == 0)
            json_object_set_new(out, json_string_value(one), json_pack("{s:o}", "Removed", removed));
        else
            json_object_set_new(out, json_string_value(one),
                                json_pack("{s:b, s:s}", "Removed", 0, "Comment", fail_text(&bad)));
    }
    return 0;
}
