/* git_pillar.c - runner `git_pillar`: fetch the remotes of the external pillar `git` now. */
#include "common/pillar/pillar.h"
#include "master/api.h"

static int
git_pillar_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *branch = value_str(args, "branch", NULL), *repo = value_str(args, "repo", NULL);
    pillar_env_t env = { .opts = ctx_opts(ctx),
                         .registry = api_modules(api_of(ctx)),
                         .id = value_str(ctx_opts(ctx), "id", "") };
    json_auto_t *done = pillar_git_fetch(&env, branch, repo, err);

    if (done == NULL)
        return -EIO;
    if (json_object_size(done) == 0)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "%s",
                         branch != NULL || repo != NULL
                             ? "Specified git branch/repo not found in ext_pillar config"
                             : "No git_pillar remotes are configured");
    *ret_value = json_incref(done);
    return 0;
}

static const arg_t update_args[] = { ARG("branch", ARG_STR, "null", "Only remotes of this branch"),
                                     ARG("repo", ARG_STR, "null", "Only remotes with this URL"), ARGS_END };

static const func_t funcs[] = {
    { "update", git_pillar_update, update_args, FN_ACCESS_ADMIN,
      "Fetch the remotes of the external pillar ``git`` now: ``True`` for one that had something new, "
      "``None`` for one that had not, ``False`` for one that could not be fetched." CLI_EXAMPLE(
          "salt-run git_pillar.update\n    salt-run git_pillar.update branch='branch' "
          "repo='https://foo.com/bar.git'") },
};

PLUGIN(runner, git_pillar, .doc = "Fetch the remotes of the external pillar git", FUNCS(funcs));
