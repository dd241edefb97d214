/* piprows.h - rows of arguments that the functions and states of `pip` share.
 *
 * Layer      plugins/lib/python
 */
#ifndef PLUGINS_LIB_PYTHON_PIPROWS_H
#define PLUGINS_LIB_PYTHON_PIPROWS_H

#include "salt/plugin.h"

#define PIP_ANY(name, dflt, help) ARG(name, ARG_ANY, dflt, help)
#define PIP_ROW_PKGS              PIP_ANY("pkgs", "null", "Packages: a list, or a text with commas")
#define PIP_ROW_REQS              PIP_ANY("requirements", "null", "Files of requirements: paths or salt:// URLs")
#define PIP_ROW_ENV                                                                                          \
    ARG("bin_env", ARG_STR, "null", "Virtual environment, or its python or pip; by default python3")
#define PIP_ROW_USER  ARG("user", ARG_STR, "null", "User to run pip as")
#define PIP_ROW_CWD   ARG("cwd", ARG_STR, "null", "Folder to run in")
#define PIP_ROW_VT    PIP_ANY("use_vt", "false", "Accepted for Salt's sake; output is collected either way")
#define PIP_ROW_VARS  PIP_ANY("env_vars", "null", "Environment variables: a dictionary")
#define PIP_ROW_LINKS PIP_ANY("find_links", "null", "Pages or folders with packages")
#define PIP_KWARGS    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE)
#define PIP_ROWS_NET                                                                                         \
    PIP_ANY("log", "null", "File for pip's log"),                                                            \
        PIP_ANY("proxy", "null", "user:password@host:port of a proxy"),                                      \
        PIP_ANY("timeout", "null", "Seconds that pip waits for a server")
#define PIP_ROWS_INDEX                                                                                       \
    PIP_ANY("index_url", "null", "URL of the index"),                                                        \
        PIP_ANY("extra_index_url", "null", "URL of one more index")
#define PIP_ROWS_WHEEL                                                                                       \
    PIP_ANY("use_wheel", "false", "For pip before 10"), PIP_ANY("no_use_wheel", "false", "For pip before 10")
#define PIP_ROWS_INSTALL_FIRST                                                                               \
    PIP_ROW_PKGS, PIP_ROW_REQS, PIP_ROW_ENV, PIP_ROWS_WHEEL, PIP_ROWS_NET,                                   \
        PIP_ANY("editable", "null", "Checkouts to install in place")
#define PIP_ROWS_INSTALL                                                                                     \
    PIP_ROWS_INDEX, PIP_ANY("no_index", "false", "Only find_links"),                                         \
        PIP_ANY("mirrors", "null", "For pip before 7; refused"),                                             \
        PIP_ANY("build", "null", "Folder to build in"), PIP_ANY("target", "null", "Folder to install to"),   \
        PIP_ANY("download", "null", "For pip before 10"),                                                    \
        PIP_ANY("download_cache", "null", "Folder of the cache"),                                            \
        PIP_ANY("source", "null", "Folder of checkouts"),                                                    \
        PIP_ANY("upgrade", "false", "Take the newest version"),                                              \
        PIP_ANY("force_reinstall", "false", "Install again what is there"),                                  \
        PIP_ANY("ignore_installed", "false", "Install over what is there"),                                  \
        PIP_ANY("exists_action", "null", "Where a path exists: s, i, w or b"),                               \
        PIP_ANY("no_deps", "false", "Leave out dependencies"),                                               \
        PIP_ANY("no_install", "false", "For pip before 7"),                                                  \
        PIP_ANY("no_download", "false", "For pip before 7"),                                                 \
        PIP_ANY("global_options", "null", "Options of setup.py"),                                            \
        PIP_ANY("install_options", "null", "Options of setup.py install"), PIP_ROW_USER, PIP_ROW_CWD,        \
        PIP_ANY("pre_releases", "false", "Take versions before a release too"),                              \
        PIP_ANY("cert", "null", "File of certificates"),                                                     \
        PIP_ANY("allow_all_external", "false", "For pip before 10"),                                         \
        PIP_ANY("allow_external", "null", "For pip before 10"),                                              \
        PIP_ANY("allow_unverified", "null", "For pip before 10"),                                            \
        PIP_ANY("process_dependency_links", "false", "For pip before 19")
#define PIP_ROWS_INSTALL_LAST                                                                                \
    PIP_ROW_VARS, PIP_ROW_VT, PIP_ANY("trusted_host", "null", "Host that needs no valid certificate"),       \
        PIP_ANY("no_cache_dir", "false", "Without the cache"),                                               \
        PIP_ANY("extra_args", "null", "More words: a list of texts and dictionaries"),                       \
        PIP_ANY("cache_dir", "null", "Folder of the cache"),                                                 \
        PIP_ANY("no_binary", "null", "Packages to take as sources, or :all:")

#endif
