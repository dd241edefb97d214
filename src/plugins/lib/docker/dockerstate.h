/* dockerstate.h - helpers that the states of docker share.
 *
 * Layer      plugins/lib/docker
 * Ownership  results are NEW
 * Errors     negative with *err in the words of the function that failed
 * Tests      tests/cases/state/docker_*.json
 */
#ifndef PLUGINS_LIB_DOCKER_DOCKERSTATE_H
#define PLUGINS_LIB_DOCKER_DOCKERSTATE_H

#include "plugins/lib/docker/dockerargs.h"
#include "salt/state.h"

#define DOCKER_ROWS_WAY                                                                                      \
    ARG("skip_translate", ARG_ANY, "null",                                                                   \
        "Arguments that go to the engine as they are: names, or True for all"),                              \
        ARG("ignore_collisions", ARG_BOOL, "false", "Let an argument and its alias both be given"),          \
        ARG("validate_ip_addrs", ARG_BOOL, "true", "Check addresses")
#define DOCKER_ROW_TIMEOUT                                                                                   \
    ARG("client_timeout", ARG_FLOAT, "60", "Seconds to wait for an answer of the engine")

/* The state's comment: its parts with ". " between, and a dot behind several. */
void docker_comment(json_t *ret, const json_t *parts);
/* Networks as a container's states take them: {NAME: {links, aliases, ipv4_address ...}}, all of which are
 * there. */
json_t *docker_wanted_networks(call_ctx_t *ctx, json_t *given, fail_t *err);
/* The id of an image, which is pulled unless this is a test; what that did is changes["image"]. False: a
 * test, and it is not there. */
json_t *docker_resolved_image(call_ctx_t *ctx, const char *image, json_t *timeout, json_t *ret, fail_t *err);

/* dockerrunning.c: docker_container.running. */
int docker_state_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

#endif
