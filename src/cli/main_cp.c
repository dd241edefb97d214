/* main_cp.c - salt-cp: files from here to minions. */
#include "cli/copy.h"
#include "common/base/memory.h"

int
main(int argc, char **argv)
{
    memory_begin();
    return copy_main(argc, argv);
}
