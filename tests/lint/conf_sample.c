/* conf_sample.c - prints the sample configuration of the side named in argv: conf/master and conf/minion come
 * from it. */
#include "common/base/str.h"
#include "common/conf/conf.h"

int
main(int argc, char **argv)
{
    bool master = argc == 2 && str_eq(argv[1], "master");

    if (!master && (argc != 2 || !str_eq(argv[1], "minion"))) {
        fputs("Usage: conf_sample master|minion\n", stderr);
        return 2;
    }
    AUTO_FREE char *text = conf_sample(master ? CONF_MASTER : CONF_MINION);
    return fputs(text, stdout) < 0 || fflush(stdout) != 0;
}
