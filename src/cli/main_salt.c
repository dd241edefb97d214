/* main_salt.c - salt: run functions on minions. */
#include "cli/cmd.h"

int
main(int argc, char **argv)
{
    return cmd_main(argc, argv);
}
