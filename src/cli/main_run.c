/* main_run.c - salt-run: run functions on the master. */
#include "cli/run.h"
#include "cli/opts.h"
#include "cli/completion.h"
#include "common/base/memory.h"
#include "common/cli/ttyguard.h"

int
main(int argc, char **argv)
{
    memory_begin();
    ttyguard_begin();
    if (complete_asked(argc, argv))
        return completion_run(&opts_run, NULL, argc, argv);
    return run_main(argc, argv);
}
