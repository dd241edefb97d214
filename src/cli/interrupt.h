/* interrupt.h - Ctrl-C and SIGTERM: say how to find the job again, and end.
 *
 * The text is prepared beforehand and the handler writes it and exits, so no moment is missed whatever the
 * program waits for.
 *
 * Layer      cli
 * Threads    the signal may come in any thread
 * Tests      tests/unit/cli/test_cli.c
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "salt/base.h"

/* From now on Ctrl-C prints Salt's farewell and ends with exit code 0, SIGTERM without a word. */
void interrupt_arm(void);
/* From now on both end the program as they end any other. */
void interrupt_default(void);
/* The job that the farewell names. */
void interrupt_job(const char *jid);

#endif
