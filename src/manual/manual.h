/* manual.h - manual pages and completion scripts, printed from the tables that the programs themselves read:
 * options of command lines, options of configuration files, runners. Run by the build; no installed program
 * contains it.
 *
 *   pages.c      texts of each command's page that no table has
 *   page.c       a command's page
 *   confpage.c   a configuration file's page
 *   docpage.c    a document's page
 *   roff.c       text as roff
 *   script.c     completion scripts, by shell
 *
 * Layer      manual; main_manual.c hands the tables over
 * Threads    one
 * Tests      tests/unit/manual/test_manual.c, tests/t/0320-completion.bats
 */
#ifndef MANUAL_MANUAL_H
#define MANUAL_MANUAL_H

#include "common/base/buf.h"
#include "common/cli/optparse.h"
#include "common/conf/conf.h"
#include "common/plugin/registry.h"

/* A term (command line, path, code, variable) and its description. Lists end with a term of NULL. */
typedef struct entry {
    const char *term, *text;
} entry_t;

typedef struct page {
    const opt_spec_t *spec;
    int section;
    const char *summary;      /* behind the name: "run functions on minions" */
    const char *const *about; /* paragraphs, ends with NULL: behind the spec's description */
    const entry_t *examples;  /* what is typed, and what it does */
    const entry_t *files, *exits, *variables;
    const char *see; /* "salt-run(1) salt-master(8)" */
    bool runners;    /* has a section that lists them */
} page_t;

/* Every program's page. BORROWED. */
const page_t *manual_pages(size_t *ret_n);

/* Prints one page; `date` (2026-11-25) goes into its footer. `runners` are for the section that lists
 * them. */
void page_print(const page_t *page, const char *date, const registry_t *runners, buf_t *out);
void confpage_print(conf_side_t side, const char *date, buf_t *out);
/* `text` is a document of docs, in Markdown. */
void docpage_print(const char *name, const char *date, const char *text, buf_t *out);

typedef enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH, SHELLS } shell_t;
/* The completion script of a program: options and their closed sets from its table, all else by asking the
 * program. */
void script_print(shell_t shell, const page_t *page, buf_t *out);

/* ---- roff.c: each ends its line -------------------------------------------------------------- */

void roff_head(buf_t *out, const char *name, int section, const char *date, const char *summary);
void roff_section(buf_t *out, const char *title);
void roff_subsection(buf_t *out, const char *title);
void roff_paragraph(buf_t *out, const char *text);
/* Terms with their texts; a term is bold. */
void roff_entries(buf_t *out, const entry_t *entries);
void roff_entry(buf_t *out, const char *term, const char *text);
/* Lines as they are, so many columns to the right: ROFF_ENTRY below an entry's text. */
enum { ROFF_ENTRY = 7, ROFF_EXAMPLE = 4 };
void roff_lines(buf_t *out, int indent, const char *text);
/* Pages with their sections, blanks between them. */
void roff_see(buf_t *out, const char *pages);
/* Text within a line, without an end. */
void roff_text(buf_t *out, const char *text, size_t len);

#endif
