/* gitrows.h - rows of arguments and of functions that the parts of module `git` share.
 *
 * Layer      plugins/lib/git
 */
#ifndef PLUGINS_LIB_GIT_GITROWS_H
#define PLUGINS_LIB_GIT_GITROWS_H

#include "salt/plugin.h"

#define GIT_ROW_CWD ARG("cwd", ARG_STR, ARG_REQUIRED, "The checkout's folder")
#define GIT_ROWS_OPTS                                                                                        \
    ARG("opts", ARG_ANY, "\"\"", "More options of the command: a line, or a list"),                          \
        ARG("git_opts", ARG_ANY, "\"\"", "Options of git itself")
#define GIT_ROWS_USER                                                                                        \
    ARG("user", ARG_STR, "null", "Run git as this user"),                                                    \
        ARG("password", ARG_STR, "null", "Of Windows only"),                                                 \
        ARG("ignore_retcode", ARG_BOOL, "false", "A failure is not logged"),                                 \
        ARG("output_encoding", ARG_STR, "null", "Accepted; output is UTF-8")
#define GIT_ROW(name, args, flags, doc, example)                                                             \
    ROW(#name, git_##name, args, flags, doc CLI_EXAMPLE("salt '*' git." example))

#endif
