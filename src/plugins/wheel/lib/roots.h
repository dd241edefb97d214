/* roots.h - the files below file_roots or pillar_roots, for the wheel modules of these names. No path leads
 * out of its root: what was opened is asked where it lies.
 *
 * Layer      plugins/wheel/lib
 * Threads    any
 * Limits     LIMIT_FILE_READ bytes of a file, LIMIT_FILE_LIST names, LIMIT_FILE_DEPTH folders inside each
 *            other
 * Tests      tests/t/7010-runners-master.bats
 */
#ifndef PLUGINS_WHEEL_LIB_ROOTS_H
#define PLUGINS_WHEEL_LIB_ROOTS_H

#include "salt/plugin.h"

/* Bodies of the functions; `option` is "file_roots" or "pillar_roots". */
int roots_find(call_ctx_t *ctx, const char *option, const json_t *args, json_t **ret_value, fail_t *err);
int roots_list_env(call_ctx_t *ctx, const char *option, const json_t *args, json_t **ret_value, fail_t *err);
int roots_list_roots(call_ctx_t *ctx, const char *option, json_t **ret_value, fail_t *err);
int roots_read(call_ctx_t *ctx, const char *option, const json_t *args, json_t **ret_value, fail_t *err);
int roots_write(call_ctx_t *ctx, const char *option, const json_t *args, json_t **ret_value, fail_t *err);

/* Their arguments. */
extern const arg_t roots_path_args[], roots_env_args[], roots_write_args[];

/* The table of a module over `option`; `module` is its name. */
#define ROOTS_MODULE(module)                                                                                 \
    static int module##_find(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)                 \
    {                                                                                                        \
        return roots_find(ctx, #module, args, ret_value, err);                                               \
    }                                                                                                        \
    static int module##_list_env(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)             \
    {                                                                                                        \
        return roots_list_env(ctx, #module, args, ret_value, err);                                           \
    }                                                                                                        \
    static int module##_list_roots(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)           \
    {                                                                                                        \
        (void) args;                                                                                         \
        return roots_list_roots(ctx, #module, ret_value, err);                                               \
    }                                                                                                        \
    static int module##_read(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)                 \
    {                                                                                                        \
        return roots_read(ctx, #module, args, ret_value, err);                                               \
    }                                                                                                        \
    static int module##_write(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)                \
    {                                                                                                        \
        return roots_write(ctx, #module, args, ret_value, err);                                              \
    }                                                                                                        \
    static const func_t funcs[] = {                                                                          \
        { "find", module##_find, roots_path_args, FN_READONLY | FN_ACCESS_ADMIN,                             \
          "Return where a file lies in an environment's roots, and whether it is text (``txt``) or not "     \
          "(``bin``)." CLI_EXAMPLE("salt-run salt.cmd saltutil.wheel " #module ".find top.sls") },           \
        { "list_env", module##_list_env, roots_env_args, FN_READONLY | FN_ACCESS_ADMIN,                      \
          "Return the folders and files of an environment by root, as a tree." CLI_EXAMPLE(                  \
              "salt-run salt.cmd saltutil.wheel " #module ".list_env base") },                               \
        { "list_roots", module##_list_roots, NULL, FN_READONLY | FN_ACCESS_ADMIN,                            \
          "Return the trees of all environments." CLI_EXAMPLE("salt-run salt.cmd saltutil.wheel " #module    \
                                                              ".list_roots") },                              \
        { "read", module##_read, roots_path_args, FN_READONLY | FN_ACCESS_ADMIN,                             \
          "Return the text of a file of an environment, from each root that has it. Files that are not "     \
          "text are left out." CLI_EXAMPLE("salt-run salt.cmd saltutil.wheel " #module ".read top.sls") },   \
        { "write", module##_write, roots_write_args, FN_ACCESS_ADMIN,                                        \
          "Write a file below a root of an environment; its folders are made.\n\nindex : 0\n    Which of "   \
          "the environment's roots." CLI_EXAMPLE("salt-run salt.cmd saltutil.wheel " #module                 \
                                                 ".write \"base: {}\" top.sls") },                           \
    }

#endif
