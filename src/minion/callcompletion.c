/* callcompletion.c - see callcompletion.h. The command line is parsed by opts_call's tables; what is offered
 * depends on the option before the cursor, or on the function and the number of its arguments. */
#include "minion/callcompletion.h"

#include "common/base/str.h"
#include "common/cli/complete.h"
#include "common/conf/startup.h"
#include "minion/opts.h"
#include "salt/value.h"

int
callcompletion_complete(const registry_t *functions, int argc, char **argv)
{
    complete_t c;
    complete_begin(&c, &opts_call, argc, argv);
    const char *fun = c.n_args > 0 ? c.args[0] : "";
    bool local = value_get(c.values, "local") != NULL || value_get(c.values, "file_root") != NULL;
    if (c.row != NULL)
        (void) complete_choices(&c);
    else if (c.n_args == 0 || str_eq(fun, "sys.doc") || str_eq(fun, "sys.argspec")) {
        complete_split(&c, ',');
        json_auto_t *names = registry_names(functions, c.part);
        complete_offer_all(&c, names);
    } else if (c.n_args == 1 && local && (str_eq(fun, "state.apply") || str_eq(fun, "state.sls"))) {
        /* State files of this host's file_roots, or --file-root: a master's files are not known here. */
        const char *root = value_str(c.values, "file_root", NULL);
        AUTO_FREE char *dir = startup_conf_dir(c.values);
        json_auto_t *given = root != NULL ? json_pack("{s:{s:[s]}}", "file_roots", "base", root) : NULL;
        AUTO(conf) conf = given != NULL ? NULL : conf_load(dir, CONF_MINION, NULL, NULL, NULL);
        if (given != NULL || conf != NULL)
            complete_sls(&c, given != NULL ? given : conf_opts(conf), NULL);
    }
    complete_free(&c);
    return 0;
}
