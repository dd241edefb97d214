/* main_cp.c - salt-cp: files from here to minions. */
#include "cli/copy.h"
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
        return completion_run(&opts_cp, NULL, argc, argv);
    return copy_main(argc, argv);
}
