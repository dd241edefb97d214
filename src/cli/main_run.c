/* main_run.c - salt-run: run functions on the master. */
#include "cli/run.h"
#include "common/base/memory.h"
#include "common/cli/ttyguard.h"

int
main(int argc, char **argv)
{
    memory_begin();
    ttyguard_begin();
    return run_main(argc, argv);
}
