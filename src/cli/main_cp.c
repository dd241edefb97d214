/* main_cp.c - salt-cp: files from here to minions. */
#include "cli/copy.h"
#include "common/base/memory.h"
#include "common/cli/ttyguard.h"

int
main(int argc, char **argv)
{
    memory_begin();
    ttyguard_begin();
    return copy_main(argc, argv);
}
