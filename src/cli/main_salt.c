/* main_salt.c - salt: run functions on minions. */
#include "cli/cmd.h"
#include "common/base/memory.h"
#include "common/cli/ttyguard.h"

int
main(int argc, char **argv)
{
    memory_begin();
    ttyguard_begin();
    return cmd_main(argc, argv);
}
