/* cmdrows.h - rows of arguments that the functions of `cmd` share.
 *
 * Layer      plugins/lib/call
 */
#ifndef PLUGINS_LIB_CALL_CMDROWS_H
#define PLUGINS_LIB_CALL_CMDROWS_H

#include "salt/plugin.h"

#define ROW_CMD   ARG("cmd", ARG_ANY, ARG_REQUIRED, "The command: text, or a list of program and arguments")
#define ROW_CWD   ARG("cwd", ARG_ANY, "null", "Folder to run in; by default the user's home")
#define ROW_STDIN ARG("stdin", ARG_ANY, "null", "Text for standard input; \\n is a line break")
#define ROW_RUNAS ARG("runas", ARG_STR, "null", "User to run as")
#define ROW_GROUP ARG("group", ARG_STR, "null", "Group to run as")
#define ROW_SHELL ARG("shell", ARG_STR, "null", "Shell; by default $SHELL, or /bin/sh")
#define ROW_PYTHON_SHELL                                                                                     \
    ARG("python_shell", ARG_BOOL, "null", "True: by the shell; by default for calls from outside")
#define ROW_ENV       ARG("env", ARG_ANY, "null", "Environment: a dictionary, or a list of them")
#define ROW_CLEAN_ENV ARG("clean_env", ARG_BOOL, "false", "Pass nothing but `env`")
#define ROW_TEMPLATE  ARG("template", ARG_ANY, "null", "Template engine for cmd and cwd")
#define ROW_RSTRIP    ARG("rstrip", ARG_BOOL, "true", "Remove white space at the end of the output")
#define ROW_UMASK     ARG("umask", ARG_ANY, "null", "umask in octal")
#define ROW_ENCODING  ARG("output_encoding", ARG_STR, "null", "Encoding of the output; by default UTF-8")
#define ROW_LOGLEVEL  ARG("output_loglevel", ARG_STR, "\"debug\"", "Log level of the output; quiet: never")
#define ROW_CALLBACK                                                                                         \
    ARG("log_callback", ARG_ANY, "null", "Accepted for Salt's sake; functions can't be passed")
#define ROW_HIDE     ARG("hide_output", ARG_BOOL, "false", "Return no output")
#define ROW_TIMEOUT  ARG("timeout", ARG_ANY, "null", "Seconds until the command and its children are killed")
#define ROW_LOCALE   ARG("reset_system_locale", ARG_BOOL, "true", "Set the locale C")
#define ROW_IGNORE   ARG("ignore_retcode", ARG_BOOL, "false", "A failure of the command is none of the job")
#define ROW_SALTENV  ARG("saltenv", ARG_STR, "null", "Environment of the file server for templates")
#define ROW_VT       ARG("use_vt", ARG_BOOL, "false", "Accepted for Salt's sake; output is collected either way")
#define ROW_BG       ARG("bg", ARG_BOOL, "false", "Start it and return at once")
#define ROW_REDIRECT ARG("redirect_stderr", ARG_BOOL, "false", "stderr into stdout")
#define ROW_PASSWORD ARG("password", ARG_STR, "null", "Windows only")
#define ROW_ENCODED  ARG("encoded_cmd", ARG_BOOL, "false", "Windows only")
#define ROW_RAISE    ARG("raise_err", ARG_BOOL, "false", "Fail the call when the command fails")
#define ROW_PREPEND  ARG("prepend_path", ARG_STR, "null", "Folders in front of PATH")
#define ROWS_SUCCESS                                                                                         \
    ARG("success_retcodes", ARG_ANY, "null", "Exit codes that count as 0"),                                  \
        ARG("success_stdout", ARG_ANY, "null", "Texts in stdout that mean success"),                         \
        ARG("success_stderr", ARG_ANY, "null", "Texts in stderr that mean success")
#define ROW_KWARGS                                                                                           \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "stdin_raw_newlines, bg and Salt's own keywords", CMD_WORDS)
/* What functions of `cmd` read of **kwargs, which the others of them name. */
#define CMD_WORDS                                                                                            \
    "stdin_raw_newlines bg use_vt python_shell umask shell stdin saltenv redirect_stderr prepend_path "      \
    "password encoded_cmd raise_err stateful"

#define ROWS_WHO   ROW_CMD, ROW_CWD, ROW_STDIN, ROW_RUNAS, ROW_GROUP, ROW_SHELL
#define ROWS_ENV   ROW_ENV, ROW_CLEAN_ENV, ROW_TEMPLATE
#define ROWS_LOG   ROW_ENCODING, ROW_LOGLEVEL, ROW_CALLBACK
#define ROWS_LIMIT ROW_TIMEOUT, ROW_LOCALE, ROW_IGNORE, ROW_SALTENV

#endif
