/* main_run.c - salt-run: run functions on the master. */
#include "cli/run.h"

int
main(int argc, char **argv)
{
    return run_main(argc, argv);
}
