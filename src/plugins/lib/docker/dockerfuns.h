/* dockerfuns.h - the functions of module `docker` by theme, for its table, and what they share.
 *
 * Layer      plugins/lib/docker
 * Ownership  results are NEW
 * Errors     FAIL_COMMAND in Salt's words: see engine.h
 * Tests      tests/cases/exec/docker.*.json
 */
#ifndef PLUGINS_LIB_DOCKER_DOCKERFUNS_H
#define PLUGINS_LIB_DOCKER_DOCKERFUNS_H

#include "plugins/lib/docker/dockerargs.h"
#include "plugins/lib/docker/engine.h"

/* An inspected container, and an image with sizes that people read. */
json_t *docker_container(call_ctx_t *ctx, const char *name, fail_t *err);
json_t *docker_image(call_ctx_t *ctx, const char *name, fail_t *err);
/* "running", "paused" or "stopped". */
const char *docker_state_of(const json_t *container);
/* The same of a name; NULL with *err. */
const char *docker_state_now(call_ctx_t *ctx, const char *name, fail_t *err);
/* Containers by id, as docker.ps shows them. */
json_t *docker_ps(call_ctx_t *ctx, json_t *filters, bool all, fail_t *err);
/* Images by id, as docker.images shows them. */
json_t *docker_images(call_ctx_t *ctx, bool all, fail_t *err);
/* Elements of a list, or keys of an object, that `after` has not. */
json_t *docker_gone(const json_t *before, const json_t *after);
/* Adds KEY_Human, "4.1 MiB", to a number of bytes. */
void docker_add_size(json_t *of, const char *key);
/* "4.1 MiB". */
json_t *docker_size(const json_t *bytes);
/* Adds Time_Created_Epoch and Time_Created_Local. */
void docker_add_time(json_t *of, json_t *epoch);
/* Puts docker.ps into the mine, unless docker.update_mine is false. */
void docker_tell_mine(call_ctx_t *ctx);
json_t *docker_pull_now(call_ctx_t *ctx, const char *image, double timeout, bool raw, fail_t *err);
/* Whether the image is there; *ret_id NEW or NULL. */
int docker_has_image(call_ctx_t *ctx, const char *name, char **ret_id, fail_t *err);
/* A container's output, the headers of its streams removed; `out` and `errs` may be the same. */
void docker_demux(const buf_t *raw, buf_t *out, buf_t *errs);
double docker_seconds(const json_t *args);
/* dockerinside.c: a command inside of a container. {"pid", "retcode", "stdout", "stderr"}; `merge`: all that it printed
 * is stdout. TAKES words. */
json_t *docker_inside(call_ctx_t *ctx, const char *name, json_t *words, bool merge, fail_t *err);
/* The same of a command line, with the arguments of docker.run; its code becomes the job's. */
json_t *docker_run_all(call_ctx_t *ctx, const json_t *args, const char *command, bool merge, fail_t *err);

func_fn docker_fn_ps, docker_fn_state, docker_fn_exists, docker_fn_inspect, docker_fn_inspect_container,
    docker_fn_list_containers, docker_fn_pid, docker_fn_port, docker_fn_top, docker_fn_diff, docker_fn_logs,
    docker_fn_info, docker_fn_version, docker_fn_compare_containers, docker_fn_compare_container_networks;
func_fn docker_fn_create, docker_fn_run_container, docker_fn_rm, docker_fn_rename, docker_fn_kill,
    docker_fn_signal, docker_fn_start, docker_fn_stop, docker_fn_restart, docker_fn_pause, docker_fn_wait,
    docker_fn_prune;
func_fn docker_fn_images, docker_fn_inspect_image, docker_fn_list_tags, docker_fn_resolve_image_id,
    docker_fn_resolve_tag, docker_fn_history, docker_fn_depends, docker_fn_dangling, docker_fn_search,
    docker_fn_pull, docker_fn_push, docker_fn_rmi, docker_fn_tag, docker_fn_commit, docker_fn_layers;

func_fn docker_fn_networks, docker_fn_create_network, docker_fn_remove_network, docker_fn_inspect_network,
    docker_fn_connect, docker_fn_disconnect, docker_fn_disconnect_all, docker_fn_connected,
    docker_fn_compare_networks, docker_fn_volumes, docker_fn_create_volume, docker_fn_remove_volume,
    docker_fn_inspect_volume;

func_fn docker_fn_build, docker_fn_load, docker_fn_import, docker_fn_save, docker_fn_export;
func_fn docker_fn_copy_from, docker_fn_copy_to, docker_fn_script;
func_fn docker_fn_run, docker_fn_login;

#endif
