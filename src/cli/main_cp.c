/* main_cp.c - salt-cp: files from here to minions. */
#include "cli/copy.h"

int
main(int argc, char **argv)
{
    return copy_main(argc, argv);
}
