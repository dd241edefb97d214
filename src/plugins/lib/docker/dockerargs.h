/* dockerargs.h - arguments of containers and networks as users write them, what the Engine's API takes for
 * them, and what differs between two of a kind. Pure: nothing here asks the engine.
 *
 * A translated argument has docker-py's name. What is a tuple there is {"HostIp", "HostPort"} here, a port is
 * "80" or "53/udp".
 *
 * Layer      plugins/lib/docker
 * Ownership  results are NEW, arguments BORROWED
 * Errors     FAIL_COMMAND with all arguments that are wrong, in Salt's layout
 * Tests      tests/cases/exec/docker.*.json, tests/cases/state/docker_*.json
 */
#ifndef PLUGINS_LIB_DOCKER_DOCKERARGS_H
#define PLUGINS_LIB_DOCKER_DOCKERARGS_H

#include "salt/plugin.h"

typedef struct docker_way {
    const json_t *skip; /* names that stay as they are: true, a list or a text; NULL: none */
    bool collisions;    /* an argument and its alias may both be given */
    bool any_address;   /* addresses are not checked */
} docker_way_t;

/* The three from a function's arguments skip_translate, ignore_collisions, validate_ip_addrs. */
docker_way_t docker_way(const json_t *args);
json_t *docker_translate_container(const docker_way_t *way, const json_t *given, fail_t *err);
json_t *docker_translate_network(const docker_way_t *way, const json_t *given, fail_t *err);

/* The body of POST /containers/create; *ret_unused: names that no one knows, with commas between, or NULL. */
json_t *docker_container_body(const char *image, const json_t *translated, char **ret_unused, fail_t *err);
/* EndpointConfig of a connection: aliases, links, ipv4_address, ipv6_address, link_local_ips, driver_opt,
 * mac_address. */
json_t *docker_endpoint(const json_t *given, fail_t *err);
/* Takes the arguments of address management out of `args`: the IPAM of a network, with an empty Config where
 * there are none. */
json_t *docker_ipam(json_t *args, fail_t *err);
/* The names that docker_ipam() takes are these: true. */
bool docker_ipam_takes(const char *name);
/* The body of POST /networks/create. */
json_t *docker_network_body(const char *name, const json_t *translated, fail_t *err);

/* A list of objects of one key each, as YAML has them, is one object; anything else stays. */
json_t *docker_repacked(json_t *v);
/* A text with an `info`, as Salt's exceptions show both: "TEXT. Additional info follows:", and `info` as
 * nested shows it. */
char *docker_with_info(const char *text, const json_t *info);

/* {"Config": {KEY: {"old", "new"}}, "HostConfig": ...} of two inspected containers; images are compared by id
 * in `ids`, an object of name and id. `ignore` is a list of keys. */
json_t *docker_compare_containers(const json_t *first, const json_t *second, const json_t *ids,
                                  const json_t *ignore);
/* {NET: {KEY: {"old", "new"}}} of two objects of endpoints by network, with the keys of the setting
 * docker.compare_container_networks. */
json_t *docker_compare_endpoints(const json_t *first, const json_t *second, const json_t *keys);
/* The same of two inspected networks. */
json_t *docker_compare_networks(const json_t *first, const json_t *second, const json_t *ignore);

/* dockerports.c: "8080:80", "127.0.0.1::53/udp", "1-3:11-13" ... into {PORT: binding or list of bindings}. */
json_t *docker_port_bindings(const json_t *v, bool any_address, fail_t *bad);
/* "80", 80, "1-3", "53/udp" ... into a list of ports. */
json_t *docker_ports(const json_t *v, fail_t *bad);
/* {"80/tcp": [{"HostIp", "HostPort"}]} of bindings. */
json_t *docker_bound_ports(const json_t *bindings);
/* "80" of "80/tcp". NEW. */
char *docker_port_name(const char *port);

/* dockertext.c: Salt's conversions of texts. */
json_t *docker_stringlist(const json_t *v);
json_t *docker_key_values(const json_t *v, char delimiter, fail_t *bad);
int docker_check_ip(const char *text, fail_t *bad);
int docker_check_subnet(const char *text, fail_t *bad);
/* Parts between `sep`, trimmed, at most `max` of them (0: all). NEW list. */
json_t *docker_parts(const char *text, char sep, size_t max);

#endif
