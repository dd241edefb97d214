/* interrupt.h - Ctrl-C and SIGTERM: say how to find the job again, and end.
 *
 * The text is prepared beforehand and the handler writes it, so no moment is missed whatever the
 * program waits for.
 *
 * Layer      cli
 * Threads    the signal may come in any thread
 * Tests      tests/unit/cli/test_cli.c
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "salt/base.h"

/* From now on Ctrl-C prints Salt's farewell, SIGTERM does not; then the signal ends the program, so that a
 * shell's list of commands ends with it and a script sees that the job was not waited for. */
void interrupt_arm(void);
/* From now on both end the program without a word. */
void interrupt_default(void);
/* A request that begins something is on its way to the master, which has not answered: the farewell says
 * so until interrupt_job. */
void interrupt_asked(void);
/* The job that the farewell names. */
void interrupt_job(const char *jid);
/* The same of an orchestration: `run` is its name in the journal, which is another job's jid when it is
 * resumed. */
void interrupt_orchestration(const char *jid, const char *run);

#endif
