/* docker.c - execution module `docker`: containers, images, networks and volumes of a Docker Engine or of
 * podman, over the HTTP API on its socket. The functions are in plugins/lib/docker by theme: engine.h sends a
 * request, and dockerargs.h translates arguments, which have the names and aliases of docker-py, on which
 * Salt's module stands. Answers are the engine's own objects, or what Salt makes of them. Further keywords of
 * create, run_container and create_network are not listed here: the translation knows them.
 *
 * The files there, and what each has:
 *   dockerlife.c    containers made, started, stopped, renamed and removed: create, run_container, start,
 *                   stop, kill, rm, prune
 *   dockerlook.c    facts of containers and of the engine: ps, list_containers, inspect_container, state,
 *                   port, logs, info, compare_containers
 *   dockerinside.c  commands within containers (run, retcode and their like), and login
 *   dockerimages.c  images: pull, push, commit, tag, rmi, search, images, history, depends, resolve_tag
 *   dockerfiles.c   images and containers to files and from them: build, load, import, save, export
 *   dockercopy.c    single files between the host and a container: copy_from, copy_to, script
 *   dockernets.c    networks and volumes: create, connect, disconnect, inspect, remove, compare_networks
 */
#include "plugins/lib/docker/dockerfuns.h"

#define ROW_CONTAINER ARG("name", ARG_STR, ARG_REQUIRED, "Name or id of the container")
#define ROW_IMAGE     ARG("name", ARG_STR, ARG_REQUIRED, "Name or id of the image")
#define ROW_NETWORK   ARG("network_id", ARG_STR, ARG_REQUIRED, "Name or id of the network")
#define ROW_VOLUME    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the volume")
/* Stopped containers, intermediate images. */
#define ROW_ALL       ARG("kwargs", ARG_ANY, ARG_STARSTAR, "all: those that are left out otherwise too", "all")
#define ROW_TIMEOUT   ARG("client_timeout", ARG_FLOAT, "60", "Seconds to wait for an answer of the engine")
/* How a call's arguments are read; see dockerargs.h. */
#define ROWS_WAY                                                                                             \
    ARG("skip_translate", ARG_ANY, "null",                                                                   \
        "Arguments that go to the engine as they are: names, or True for all"),                              \
        ARG("ignore_collisions", ARG_BOOL, "false", "Let an argument and its alias both be given"),          \
        ARG("validate_ip_addrs", ARG_BOOL, "true", "Check addresses")

static const arg_t build_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "Folder with the Dockerfile, or URL"),
    ARG("repository", ARG_ANY, "null", "Repository of the tag that it gets"),
    ARG("tag", ARG_ANY, "null", "That tag"),
    ARG("cache", ARG_BOOL, "true", "Use what earlier builds left"),
    ARG("rm", ARG_BOOL, "true", "Remove the containers in between"),
    ARG("api_response", ARG_BOOL, "false", "Add what the engine said"),
    ARG("fileobj", ARG_ANY, "null", "Accepted for Salt's sake"),
    ARG("dockerfile", ARG_STR, "null", "Name of the Dockerfile"),
    ARG("buildargs", ARG_ANY, "null", "Values of ARG"),
    ARG("logfile", ARG_STR, "null", "File that gets the output"),
    ARGS_END,
};
static const arg_t commit_args[] = {
    ROW_CONTAINER,
    ARG("repository", ARG_STR, ARG_REQUIRED, "Repository of the new image"),
    ARG("tag", ARG_STR, "\"latest\"", "Its tag"),
    ARG("message", ARG_STR, "null", "Message of the commit"),
    ARG("author", ARG_STR, "null", "Its author"),
    ARGS_END,
};
static const arg_t compare_container_args[] = {
    ARG("first", ARG_STR, ARG_REQUIRED, "A container"),
    ARG("second", ARG_STR, ARG_REQUIRED, "Another one"),
    ARG("ignore", ARG_ANY, "null", "Keys of the configuration that may differ"),
    ARGS_END,
};
static const arg_t compare_container_networks_args[] = {
    ARG("first", ARG_ANY, ARG_REQUIRED, "A container, or what inspect_container tells of it"),
    ARG("second", ARG_ANY, ARG_REQUIRED, "Another one"),
    ARGS_END,
};
static const arg_t compare_networks_args[] = {
    ARG("first", ARG_ANY, ARG_REQUIRED, "A network, or what inspect_network tells of it"),
    ARG("second", ARG_ANY, ARG_REQUIRED, "Another one"),
    ARG("ignore", ARG_ANY, "\"Name,Id,Created,Containers\"", "Keys that may differ"),
    ARGS_END,
};
static const arg_t connect_container_to_network_args[] = {
    ARG("container", ARG_STR, ARG_REQUIRED, "Name or id of the container"),
    ARG("net_id", ARG_STR, ARG_REQUIRED, "Name or id of the network"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "aliases, links, ipv4_address, ipv6_address, link_local_ips, driver_opt, mac_address",
        "aliases links ipv4_address ipv6_address link_local_ips driver_opt mac_address"),
    ARGS_END,
};
static const arg_t connected_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name or id of the network"),
    ARG("verbose", ARG_BOOL, "false", "Tell of each container what the network knows"),
    ARGS_END,
};
/* Rows of functions that run a command inside. */
#define ROWS_RUN                                                                                             \
    ARG("exec_driver", ARG_STR, "null", "docker-exec, the only one"),                                        \
        ARG("stdin", ARG_ANY, "null", "Refused: a command inside gets none"),                                \
        ARG("python_shell", ARG_BOOL, "true", "Accepted for Salt's sake"),                                   \
        ARG("output_loglevel", ARG_STR, "\"debug\"", "Accepted for Salt's sake"),                            \
        ARG("use_vt", ARG_BOOL, "false", "Accepted for Salt's sake"),                                        \
        ARG("ignore_retcode", ARG_BOOL, "false", "An exit code other than 0 is not the job's"),              \
        ARG("keep_env", ARG_ANY, "null", "True for all, or names of variables")
/* Rows that copy_from and copy_to share. */
#define ROWS_COPY                                                                                            \
    ARG("overwrite", ARG_BOOL, "false", "Replace a file that is there"),                                     \
        ARG("makedirs", ARG_BOOL, "false", "Make the folders above it")

static const arg_t copy_from_args[] = {
    ROW_CONTAINER,
    ARG("source", ARG_STR, ARG_REQUIRED, "Path of the file inside"),
    ARG("dest", ARG_STR, ARG_REQUIRED, "Path of its copy, or a folder"),
    ROWS_COPY,
    ARGS_END,
};
static const arg_t copy_to_args[] = {
    ROW_CONTAINER,
    ARG("source", ARG_STR, ARG_REQUIRED, "Path or salt:// address of the file"),
    ARG("dest", ARG_STR, ARG_REQUIRED, "Path of its copy inside, or a folder there"),
    ARG("exec_driver", ARG_STR, "null", "docker-exec"),
    ROWS_COPY,
    ARGS_END,
};
static const arg_t create_args[] = {
    ARG("image", ARG_STR, ARG_REQUIRED, "Image of the container"),
    ARG("name", ARG_STR, "null", "Its name; by default the engine makes one"),
    ARG("start", ARG_BOOL, "false", "Start it"),
    ROWS_WAY,
    ROW_TIMEOUT,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "Configuration of the container: binds, environment, port_bindings ..."),
    ARGS_END,
};
static const arg_t create_network_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the network"),
    ROWS_WAY,
    ROW_TIMEOUT,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "driver, options, labels, internal, subnet, gateway ..."),
    ARGS_END,
};
static const arg_t create_volume_args[] = {
    ROW_VOLUME,
    ARG("driver", ARG_STR, "null", "Its driver"),
    ARG("driver_opts", ARG_ANY, "null", "Options of the driver"),
    ARGS_END,
};
static const arg_t dangling_args[] = {
    ARG("prune", ARG_BOOL, "false", "Remove them"),
    ARG("force", ARG_BOOL, "false", "Also when a container was made of one"),
    ARGS_END,
};
static const arg_t image_args[] = {
    ROW_IMAGE,
    ARGS_END,
};
static const arg_t container_args[] = {
    ROW_CONTAINER,
    ARGS_END,
};
static const arg_t network_args[] = {
    ROW_NETWORK,
    ARGS_END,
};
static const arg_t disconnect_container_from_network_args[] = {
    ARG("container", ARG_STR, ARG_REQUIRED, "Name or id of the container"),
    ROW_NETWORK,
    ARGS_END,
};
static const arg_t export_args[] = {
    ROW_CONTAINER,
    ARG("path", ARG_STR, ARG_REQUIRED, "Where the file is to be"),
    ARG("overwrite", ARG_BOOL, "false", "Replace a file that is there"),
    ARG("makedirs", ARG_BOOL, "false", "Make the folders above it"),
    ARG("compression", ARG_STR, "null", "gzip, bzip2 or xz; by default what its name says"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "push: send it to the master", "push"),
    ARGS_END,
};
static const arg_t history_args[] = {
    ROW_IMAGE,
    ARG("quiet", ARG_BOOL, "false", "The commands only"),
    ARGS_END,
};
static const arg_t images_args[] = {
    ARG("verbose", ARG_BOOL, "false", "Add what inspect_image tells"),
    ROW_ALL,
    ARGS_END,
};
static const arg_t import_args[] = {
    ARG("source", ARG_STR, ARG_REQUIRED, "tar file of the image's files: a path, a URL or a salt:// address"),
    ARG("repository", ARG_ANY, ARG_REQUIRED, "Repository of the image"),
    ARG("tag", ARG_ANY, "\"latest\"", "Its tag"),
    ARG("api_response", ARG_BOOL, "false", "Add what the engine said"),
    ARGS_END,
};
static const arg_t inspect_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name or id"),
    ARGS_END,
};
static const arg_t volume_args[] = {
    ROW_VOLUME,
    ARGS_END,
};
static const arg_t list_containers_args[] = {
    ROW_ALL,
    ARGS_END,
};
static const arg_t load_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "Path or URL of the file"),
    ARG("repository", ARG_STR, "null", "Repository of the tag that it gets"),
    ARG("tag", ARG_STR, "null", "That tag"),
    ARGS_END,
};
static const arg_t login_args[] = {
    ARG("registries", ARG_ANY, ARG_STAR, "Names in the setting docker-registries; all by default"),
    ARGS_END,
};
static const arg_t logs_args[] = {
    ROW_CONTAINER,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "stdout, stderr, timestamps, tail, since, follow, until",
        "stdout stderr timestamps tail since follow until stream"),
    ARGS_END,
};
static const arg_t networks_args[] = {
    ARG("names", ARG_ANY, "null", "Names to look for"),
    ARG("ids", ARG_ANY, "null", "Ids to look for"),
    ARGS_END,
};
static const arg_t port_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the container, or a glob of names"),
    ARG("private_port", ARG_ANY, "null", "A port inside: 80, 53/udp"),
    ARGS_END,
};
static const arg_t prune_args[] = {
    ARG("containers", ARG_BOOL, "false", "Stopped containers"),
    ARG("networks", ARG_BOOL, "false", "Unused networks"),
    ARG("images", ARG_BOOL, "false", "Unused images"),
    ARG("build", ARG_BOOL, "false", "The cache of builds"),
    ARG("volumes", ARG_BOOL, "false", "Unused volumes"),
    ARG("system", ARG_ANY, "null", "All but volumes; this is so by default"),
    ARG("filters", ARG_ANY, ARG_STARSTAR, "Filters of the engine: until, label ..."),
    ARGS_END,
};
static const arg_t ps_args[] = {
    ARG("filters", ARG_ANY, "null", "Filters of the engine"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "all, verbose, host", "all verbose host"),
    ARGS_END,
};
static const arg_t pull_args[] = {
    ARG("image", ARG_STR, ARG_REQUIRED, "Name and tag of the image"),
    ARG("insecure_registry", ARG_BOOL, "false", "Accepted for Salt's sake"),
    ARG("api_response", ARG_BOOL, "false", "Add what the engine said"),
    ROW_TIMEOUT,
    ARGS_END,
};
static const arg_t rename_args[] = {
    ROW_CONTAINER,
    ARG("new_name", ARG_STR, ARG_REQUIRED, "Its new name"),
    ARGS_END,
};
static const arg_t resolve_tag_args[] = {
    ROW_IMAGE,
    ROW_ALL,
    ARGS_END,
};
static const arg_t restart_args[] = {
    ROW_CONTAINER,
    ARG("timeout", ARG_INT, "10", "Seconds until it is killed"),
    ARGS_END,
};
static const arg_t retcode_args[] = {
    ROW_CONTAINER,
    ARG("cmd", ARG_STR, ARG_REQUIRED, "The command"),
    ROWS_RUN,
    ARGS_END,
};
static const arg_t rm_args[] = {
    ROW_CONTAINER,
    ARG("force", ARG_BOOL, "false", "Also when it runs"),
    ARG("volumes", ARG_BOOL, "false", "Its volumes without a name too"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "stop: stop it before; timeout: seconds until it is killed",
        "stop timeout"),
    ARGS_END,
};
static const arg_t rmi_args[] = {
    ARG("names", ARG_ANY, ARG_STAR, "Names or ids of images"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "force: also when a container was made of one; prune: False keeps its parents", "force prune"),
    ARGS_END,
};
static const arg_t run_container_args[] = {
    ARG("image", ARG_STR, ARG_REQUIRED, "Image of the container"),
    ARG("name", ARG_STR, "null", "Its name; by default the engine makes one"),
    ROWS_WAY,
    ROW_TIMEOUT,
    ARG("bg", ARG_BOOL, "false", "Do not wait for its end"),
    ARG("replace", ARG_BOOL, "false", "Remove the container that has the name"),
    ARG("force", ARG_BOOL, "false", "Also when that runs"),
    ARG("networks", ARG_ANY, "null", "Networks to connect it to"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "Configuration of the container: binds, environment, port_bindings ..."),
    ARGS_END,
};
static const arg_t save_args[] = {
    ROW_IMAGE,
    ARG("path", ARG_STR, ARG_REQUIRED, "Where the file is to be"),
    ARG("overwrite", ARG_BOOL, "false", "Replace a file that is there"),
    ARG("makedirs", ARG_BOOL, "false", "Make the folders above it"),
    ARG("compression", ARG_STR, "null", "gzip, bzip2 or xz; by default what its name says"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "push: send it to the master", "push"),
    ARGS_END,
};
static const arg_t script_args[] = {
    ROW_CONTAINER,
    ARG("source", ARG_STR, ARG_REQUIRED, "Path, URL or salt:// address of the script"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of the file server"),
    ARG("args", ARG_ANY, "null", "Its arguments, as they stand on a command line"),
    ARG("template", ARG_STR, "null", "Renderer that it goes through before"),
    ROWS_RUN,
    ARGS_END,
};
static const arg_t search_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "What to look for"),
    ARG("official", ARG_BOOL, "false", "Official images only"),
    ARG("trusted", ARG_BOOL, "false", "Trusted images only"),
    ARGS_END,
};
static const arg_t signal_args[] = {
    ROW_CONTAINER,
    ARG("signal", ARG_ANY, ARG_REQUIRED, "Name or number of the signal"),
    ARGS_END,
};
static const arg_t stop_args[] = {
    ROW_CONTAINER,
    ARG("timeout", ARG_ANY, "null", "Seconds until it is killed"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "unpause: unpause it before, when it is paused", "unpause"),
    ARGS_END,
};
static const arg_t tag_args[] = {
    ROW_IMAGE,
    ARG("repository", ARG_STR, ARG_REQUIRED, "Repository"),
    ARG("tag", ARG_STR, "\"latest\"", "Tag"),
    ARG("force", ARG_BOOL, "false", "Move a tag that another image has"),
    ARGS_END,
};
static const arg_t volumes_args[] = {
    ARG("filters", ARG_ANY, "null", "Filters of the engine"),
    ARGS_END,
};
static const arg_t wait_args[] = {
    ROW_CONTAINER,
    ARG("ignore_already_stopped", ARG_BOOL, "false", "One that has stopped already is as good"),
    ARG("fail_on_exit_status", ARG_BOOL, "false", "An exit code other than 0 is a failure"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "build", docker_fn_build, build_args, 0,
      "Build an image of a Dockerfile." CLI_EXAMPLE(
          "salt '*' docker.build /path/to/docker/build/dir repository=myimage tag=1") },
    { "commit", docker_fn_commit, commit_args, 0,
      "Make an image of a container." CLI_EXAMPLE(
          "salt '*' docker.commit mycontainer myuser/myimage mytag") },
    { "compare_container", docker_fn_compare_containers, compare_container_args, FN_READONLY,
      "Return what differs between the configurations of two containers." CLI_EXAMPLE(
          "salt '*' docker.compare_containers foo bar") },
    { "compare_container_networks", docker_fn_compare_container_networks, compare_container_networks_args,
      FN_READONLY,
      "Return what differs between the networks of two containers." CLI_EXAMPLE(
          "salt '*' docker.compare_container_networks foo bar") },
    { "compare_containers", docker_fn_compare_containers, compare_container_args, FN_READONLY,
      "Return what differs between the configurations of two containers." CLI_EXAMPLE(
          "salt '*' docker.compare_containers foo bar") },
    { "compare_networks", docker_fn_compare_networks, compare_networks_args, FN_READONLY,
      "Return what differs between two networks." CLI_EXAMPLE("salt '*' docker.compare_networks foo bar") },
    { "connect_container_to_network", docker_fn_connect, connect_container_to_network_args, 0,
      "Connect a container to a network." CLI_EXAMPLE(
          "salt '*' docker.connect_container_to_network web-1 mynet") },
    { "connected", docker_fn_connected, connected_args, FN_READONLY,
      "Return the containers that are connected to a network." CLI_EXAMPLE(
          "salt '*' docker.connected net_name") },
    { "copy_from", docker_fn_copy_from, copy_from_args, 0,
      "Copy a file of a running container to the host." CLI_EXAMPLE(
          "salt '*' docker.copy_from mycontainer /var/log/nginx/access.log /home/myuser") },
    { "copy_to", docker_fn_copy_to, copy_to_args, 0,
      "Copy a file of the host or of the file server into a running container." CLI_EXAMPLE(
          "salt '*' docker.copy_to mycontainer /tmp/foo /root/foo") },
    { "create", docker_fn_create, create_args, 0,
      "Make a container, and pull its image where that is missing." CLI_EXAMPLE(
          "salt '*' docker.create myuser/mycontainer name=mycontainer binds=/var/lib/foo:/var/lib/foo:ro") },
    { "create_network", docker_fn_create_network, create_network_args, 0,
      "Make a network." CLI_EXAMPLE("salt '*' docker.create_network web_network driver=bridge") },
    { "create_volume", docker_fn_create_volume, create_volume_args, 0,
      "Make a volume." CLI_EXAMPLE("salt '*' docker.create_volume my_volume driver=local") },
    { "dangling", docker_fn_dangling, dangling_args, 0,
      "Return the top-level images without a tag, or remove them." CLI_EXAMPLE(
          "salt '*' docker.dangling prune=True") },
    { "depends", docker_fn_depends, image_args, FN_READONLY,
      "Return the containers and images that depend on an image." CLI_EXAMPLE(
          "salt '*' docker.depends myimage") },
    { "diff", docker_fn_diff, container_args, FN_READONLY,
      "Return the changes to the files of a container." CLI_EXAMPLE("salt '*' docker.diff mycontainer") },
    { "disconnect_all_containers_from_network", docker_fn_disconnect_all, network_args, 0,
      "Disconnect all containers of a network and return their names." CLI_EXAMPLE(
          "salt '*' docker.disconnect_all_containers_from_network mynet") },
    { "disconnect_container_from_network", docker_fn_disconnect, disconnect_container_from_network_args, 0,
      "Disconnect a container from a network." CLI_EXAMPLE(
          "salt '*' docker.disconnect_container_from_network web-1 mynet") },
    { "exists", docker_fn_exists, container_args, FN_READONLY,
      "Return whether there is a container of this name." CLI_EXAMPLE("salt '*' docker.exists mycontainer") },
    { "export", docker_fn_export, export_args, 0,
      "Write the files of a container to a tar file." CLI_EXAMPLE(
          "salt '*' docker.export mycontainer /tmp/mycontainer.tar") },
    { "freeze", docker_fn_pause, container_args, 0,
      "Pause a container: pause." CLI_EXAMPLE("salt '*' docker.freeze mycontainer"), .data.text = "pause" },
    { "history", docker_fn_history, history_args, FN_READONLY,
      "Return the steps that made an image, the first one first." CLI_EXAMPLE(
          "salt '*' docker.history image_name") },
    { "images", docker_fn_images, images_args, FN_READONLY,
      "Return the images by id; those without a tag by all=True only." CLI_EXAMPLE(
          "salt '*' docker.images all=True") },
    { "import", docker_fn_import, import_args, 0,
      "Make an image of a tar file." CLI_EXAMPLE(
          "salt '*' docker.import /tmp/cent7-minimal.tar.xz myuser/centos 7") },
    { "info", docker_fn_info, NULL, FN_READONLY,
      "Return what the engine tells of itself." CLI_EXAMPLE("salt '*' docker.info") },
    { "inspect", docker_fn_inspect, inspect_args, FN_READONLY,
      "Return what the engine knows of a container, else of an image, a volume or a network of that name." CLI_EXAMPLE(
          "salt '*' docker.inspect mycontainer") },
    { "inspect_container", docker_fn_inspect_container, container_args, FN_READONLY,
      "Return what the engine knows of a container." CLI_EXAMPLE(
          "salt '*' docker.inspect_container mycontainer") },
    { "inspect_image", docker_fn_inspect_image, image_args, FN_READONLY,
      "Return what the engine knows of an image." CLI_EXAMPLE("salt '*' docker.inspect_image busybox") },
    { "inspect_network", docker_fn_inspect_network, network_args, FN_READONLY,
      "Return what the engine knows of a network." CLI_EXAMPLE("salt '*' docker.inspect_network mynet") },
    { "inspect_volume", docker_fn_inspect_volume, volume_args, FN_READONLY,
      "Return what the engine knows of a volume." CLI_EXAMPLE("salt '*' docker.inspect_volume my_volume") },
    { "kill", docker_fn_kill, container_args, 0,
      "Kill a container." CLI_EXAMPLE("salt '*' docker.kill mycontainer") },
    { "layers", docker_fn_layers, image_args, FN_READONLY,
      "Return the ids of the layers of an image, the first one first." CLI_EXAMPLE(
          "salt '*' docker.layers image_name") },
    { "list_containers", docker_fn_list_containers, list_containers_args, FN_READONLY,
      "Return the names of the running containers, or of all." CLI_EXAMPLE(
          "salt '*' docker.list_containers all=True") },
    { "list_tags", docker_fn_list_tags, NULL, FN_READONLY,
      "Return the tags of all images." CLI_EXAMPLE("salt '*' docker.list_tags") },
    { "load", docker_fn_load, load_args, 0,
      "Load images of a file." CLI_EXAMPLE(
          "salt '*' docker.load /path/to/archive.tar repository=myuser/myimage tag=mytag") },
    { "login", docker_fn_login, login_args, 0,
      "Log in to registries with the setting docker-registries." CLI_EXAMPLE("salt '*' docker.login hub"),
      .data.text = "login" },
    { "logout", docker_fn_login, login_args, 0,
      "Log out of registries." CLI_EXAMPLE("salt '*' docker.logout hub"), .data.text = "logout" },
    { "logs", docker_fn_logs, logs_args, FN_READONLY,
      "Return the output of a container." CLI_EXAMPLE("salt '*' docker.logs mycontainer tail=10") },
    { "networks", docker_fn_networks, networks_args, FN_READONLY,
      "Return the networks." CLI_EXAMPLE("salt '*' docker.networks names=network-web") },
    { "pause", docker_fn_pause, container_args, 0,
      "Pause a container." CLI_EXAMPLE("salt '*' docker.pause mycontainer"), .data.text = "pause" },
    { "pid", docker_fn_pid, container_args, FN_READONLY,
      "Return the process id of a container; 0: it does not run." CLI_EXAMPLE(
          "salt '*' docker.pid mycontainer") },
    { "port", docker_fn_port, port_args, FN_READONLY,
      "Return the ports outside to which ports of a container are bound." CLI_EXAMPLE(
          "salt '*' docker.port mycontainer 5000/tcp") },
    { "prune", docker_fn_prune, prune_args, 0,
      "Remove what is not used." CLI_EXAMPLE("salt '*' docker.prune containers=True networks=True") },
    { "ps", docker_fn_ps, ps_args, FN_READONLY,
      "Return the running containers by id; others by all=True." CLI_EXAMPLE("salt '*' docker.ps all=True") },
    { "pull", docker_fn_pull, pull_args, 0,
      "Pull an image from its registry." CLI_EXAMPLE("salt '*' docker.pull centos:6") },
    { "push", docker_fn_push, pull_args, 0,
      "Push an image to its registry." CLI_EXAMPLE("salt '*' docker.push myuser/mycontainer") },
    { "remove_network", docker_fn_remove_network, network_args, 0,
      "Remove a network." CLI_EXAMPLE("salt '*' docker.remove_network mynet") },
    { "remove_volume", docker_fn_remove_volume, volume_args, 0,
      "Remove a volume." CLI_EXAMPLE("salt '*' docker.remove_volume my_volume") },
    { "rename", docker_fn_rename, rename_args, 0,
      "Rename a container." CLI_EXAMPLE("salt '*' docker.rename foo bar") },
    { "resolve_image_id", docker_fn_resolve_image_id, image_args, FN_READONLY,
      "Return the id of an image, or False." CLI_EXAMPLE("salt '*' docker.resolve_image_id foo") },
    { "resolve_tag", docker_fn_resolve_tag, resolve_tag_args, FN_READONLY,
      "Return the tag of an image, its id when it has none, False when it is not there." CLI_EXAMPLE(
          "salt '*' docker.resolve_tag busybox") },
    { "restart", docker_fn_restart, restart_args, 0,
      "Restart a container." CLI_EXAMPLE("salt '*' docker.restart mycontainer timeout=20") },
    { "retcode", docker_fn_run, retcode_args, 0,
      "Run a command inside of a container and return its exit code." CLI_EXAMPLE(
          "salt '*' docker.retcode mycontainer 'ls -l /etc'"),
      .data.text = "retcode" },
    { "rm", docker_fn_rm, rm_args, 0,
      "Remove a container and return the ids that are gone." CLI_EXAMPLE(
          "salt '*' docker.rm mycontainer force=True") },
    { "rmi", docker_fn_rmi, rmi_args, 0, "Remove images." CLI_EXAMPLE("salt '*' docker.rmi busybox") },
    { "run", docker_fn_run, retcode_args, 0,
      "Run a command inside of a container and return all that it printed." CLI_EXAMPLE(
          "salt '*' docker.run mycontainer 'ls -l /etc'"),
      .data.text = "" },
    { "run_all", docker_fn_run, retcode_args, 0,
      "Run a command inside of a container and return pid, retcode, stdout and stderr." CLI_EXAMPLE(
          "salt '*' docker.run_all mycontainer 'ls -l /etc'"),
      .data.text = "all" },
    { "run_container", docker_fn_run_container, run_container_args, 0,
      "Make a container, run it, and return its output and exit code." CLI_EXAMPLE(
          "salt '*' docker.run_container myuser/myimage command=/usr/local/bin/myscript.sh") },
    { "run_stderr", docker_fn_run, retcode_args, 0,
      "Run a command inside of a container and return its stderr." CLI_EXAMPLE(
          "salt '*' docker.run_stderr mycontainer 'ls -l /etc'"),
      .data.text = "stderr" },
    { "run_stdout", docker_fn_run, retcode_args, 0,
      "Run a command inside of a container and return its stdout." CLI_EXAMPLE(
          "salt '*' docker.run_stdout mycontainer 'ls -l /etc'"),
      .data.text = "stdout" },
    { "save", docker_fn_save, save_args, 0,
      "Write an image to a file." CLI_EXAMPLE("salt '*' docker.save centos:7 /tmp/cent7.tar") },
    { "script", docker_fn_script, script_args, 0,
      "Run a script inside of a container and return pid, retcode, stdout and stderr." CLI_EXAMPLE(
          "salt '*' docker.script mycontainer salt://docker_script.py args='-a 1'"),
      .data.text = "all" },
    { "script_retcode", docker_fn_script, script_args, 0,
      "Run a script inside of a container and return its exit code." CLI_EXAMPLE(
          "salt '*' docker.script_retcode mycontainer salt://docker_script.py"),
      .data.text = "retcode" },
    { "search", docker_fn_search, search_args, FN_READONLY,
      "Search the registry for images." CLI_EXAMPLE("salt '*' docker.search centos") },
    { "signal", docker_fn_signal, signal_args, 0,
      "Send a signal to a container." CLI_EXAMPLE("salt '*' docker.signal mycontainer SIGHUP") },
    { "start", docker_fn_start, container_args, 0,
      "Start a container." CLI_EXAMPLE("salt '*' docker.start mycontainer") },
    { "state", docker_fn_state, container_args, FN_READONLY,
      "Return \"running\", \"paused\" or \"stopped\"." CLI_EXAMPLE("salt '*' docker.state mycontainer") },
    { "stop", docker_fn_stop, stop_args, 0,
      "Stop a container." CLI_EXAMPLE("salt '*' docker.stop mycontainer unpause=True") },
    { "tag", docker_fn_tag, tag_args, 0,
      "Tag an image." CLI_EXAMPLE("salt '*' docker.tag 0123456789ab myrepo/mycontainer mytag") },
    { "top", docker_fn_top, container_args, FN_READONLY,
      "Return the processes of a container." CLI_EXAMPLE("salt '*' docker.top mycontainer") },
    { "unfreeze", docker_fn_pause, container_args, 0,
      "Unpause a container: unpause." CLI_EXAMPLE("salt '*' docker.unfreeze mycontainer"),
      .data.text = "unpause" },
    { "unpause", docker_fn_pause, container_args, 0,
      "Unpause a container." CLI_EXAMPLE("salt '*' docker.unpause mycontainer"), .data.text = "unpause" },
    { "version", docker_fn_version, NULL, FN_READONLY,
      "Return the versions of the engine and of its API." CLI_EXAMPLE("salt '*' docker.version") },
    { "volumes", docker_fn_volumes, volumes_args, FN_READONLY,
      "Return the volumes." CLI_EXAMPLE("salt '*' docker.volumes filters=\"{'dangling': True}\"") },
    { "wait", docker_fn_wait, wait_args, 0,
      "Wait for the end of a container." CLI_EXAMPLE("salt '*' docker.wait mycontainer") },
};

PLUGIN(exec, docker, .doc = "Containers, images, networks and volumes of a Docker Engine", FUNCS(funcs));
