/* main_manual.c - prints one of the manual pages ("salt.1", "salt-master.conf.5") or completion scripts
 * ("salt.bash"). The date is for the pages. A page that is a document of docs is told its file. */
#include <stdio.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "manual/manual.h"
#include "plugins/builtin.h"

#define DOCUMENT_MAX (1 << 20)

static const char *const endings[SHELLS] = {
    [SHELL_BASH] = "bash", [SHELL_ZSH] = "zsh", [SHELL_FISH] = "fish"
};

/* False: there is nothing of this name. */
static bool
print_named(const char *wanted, const char *date, buf_t *out)
{
    size_t n, n_runners;
    const page_t *pages = manual_pages(&n);
    const plugin_t *const *rows = builtin_plugins(PLUGIN_RUNNER, &n_runners);
    AUTO(registry) runners = registry_new(PLUGIN_RUNNER, rows, n_runners);

    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *name = xasprintf("%s.%d", pages[i].spec->prog, pages[i].section);
        if (str_eq(name, wanted)) {
            page_print(&pages[i], date, runners, out);
            return true;
        }

        /* Prints the completion script. */
        const page_t *page = &pages[i];
        for (shell_t shell = 0; shell < SHELLS; shell++) {
            AUTO_FREE char *named = xasprintf("%s.%s", page->spec->prog, endings[shell]);
            if (str_eq(named, wanted)) {
                script_print(shell, page, out);
                return true;
            }
        }
    }
    bool master = str_eq(wanted, "salt-master.conf.5");
    if (!master && !str_eq(wanted, "salt-minion.conf.5"))
        return false;
    confpage_print(master ? CONF_MASTER : CONF_MINION, date, out);
    return true;
}

int
main(int argc, char **argv)
{
    buf_auto_t out = BUF_INIT;

    if (argc == 4) {
        /* A document: its name, the date, and the file. */
        buf_auto_t text = BUF_INIT;
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *name = xstrndup(argv[1], strcspn(argv[1], "."));

        if (fs_read(argv[3], DOCUMENT_MAX, &text, &err) < 0) {
            (void) fprintf(stderr, "%s\n", fail_text(&err));
            return 1;
        }
        docpage_print(name, argv[2], buf_str(&text), &out);
        return fputs(buf_str(&out), stdout) < 0 || fflush(stdout) != 0;
    }
    if (argc < 2 || argc > 3 || !print_named(argv[1], argc == 3 ? argv[2] : "", &out)) {
        (void) fputs(
            "Usage: manual PAGE.SECTION [DATE [DOCUMENT]] | PROGRAM.bash | PROGRAM.zsh | PROGRAM.fish\n",
            stderr);
        return 2;
    }
    return fputs(buf_str(&out), stdout) < 0 || fflush(stdout) != 0;
}
