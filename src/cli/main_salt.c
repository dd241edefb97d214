/* main_salt.c - salt: run functions on minions. */
#include "cli/cmd.h"
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
        return completion_run(&opts_salt, NULL, argc, argv);
    return salt_main(argc, argv);
}
