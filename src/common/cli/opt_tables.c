/* opt_tables.c - options that several programs share. */
#include "common/cli/optparse.h"

#include "gen/places.h"

/* Names of the log levels in the order of Salt's error message, and in the order of Salt's help text. The
 * lists differ because users compare the texts with Salt's. */
#define LEVELS        "all|debug|error|critical|garbage|info|profile|quiet|trace|warning"
#define LEVELS_RISING "all|garbage|trace|debug|profile|info|warning|error|critical|quiet"
#define LEVELS_SHOWN                                                                                         \
    "'all', 'garbage', 'trace', 'debug', 'profile', 'info', 'warning', 'error', 'critical' or 'quiet'"

const opt_row_t opt_common[] = {
    { "--version", OPT_VERSION, .help = "Print the version of %prog and end." },
    { "-V --versions-report", OPT_VERSIONS_REPORT,
      .help = "Print the versions of %prog, of its libraries and of the system, and end." },
    { "-h --help", OPT_HELP, .help = "Print this help and end." },
    { "-c --config-dir", OPT_STR,
      .help = "Read the configuration from this folder. Default: $SALT_CONFIG_DIR, else '" HALITE_CONF_DIR
              "'." },
    { "--saltfile", OPT_STR,
      .help =
          "A file with options of this program: '{%prog: {config_dir: FOLDER}}' in YAML. Default: $SALT_SALTFILE, else "
          "'Saltfile' in this folder, or in ~/.salt." },
    OPT_ROW_END
};

#define AUTH(auth, token)                                                                                    \
    { "Authentication Options", OPT_GROUP,                                                                   \
      .help = "Who asks, where that is not the user of this host: the master's option external_auth." },     \
        { auth, OPT_STR, .dest = "eauth", .metavar = "EAUTH",                                                \
          .help = "Log in by this system: pam, file, ldap, sharedsecret, rest." },                           \
        { token, OPT_FLAG, .dest = "mktoken",                                                                \
          .help = "Keep a token of the login in token_file, ~/.salt_token, for the commands that follow." }, \
        { "--username", OPT_STR, .help = "Who logs in; without it, that is asked for." },                    \
    {                                                                                                        \
        "--password", OPT_STR,                                                                               \
            .help = "The password; without it, it is asked for, and others do not see it in the list of "    \
                    "processes."                                                                             \
    }
const opt_row_t opt_auth[] = { AUTH("-a --auth --eauth --external-auth", "-T --make-token"), OPT_ROW_END };
const opt_row_t opt_auth_key[] = { AUTH("--auth --eauth --external-auth", "--make-token"), OPT_ROW_END };

/* The logging options; salt-key has them without -l, which lists keys there. */
#define LOGGING(level_names)                                                                                 \
    { "Logging Options", OPT_GROUP, .help = "What is logged; stronger than the configuration files." },      \
        { level_names, OPT_STR, .dest = "log_level", .choices = LEVELS,                                      \
          .help = "Least level of what is logged on the terminal: " LEVELS_SHOWN ". Default: 'warning'." },  \
        { "--log-file", OPT_STR, .help = "Log to this file, too." },                                         \
    {                                                                                                        \
        "--log-file-level", OPT_STR,                                                                         \
            .dest = "log_level_logfile", .choices = LEVELS_RISING,                                           \
            .help = "Least level of what is logged to the file: " LEVELS_SHOWN ". Default: 'warning'."       \
    }

const opt_row_t opt_logging[] = { LOGGING("-l --log-level"), OPT_ROW_END };
const opt_row_t opt_logging_key[] = { LOGGING("--log-level"), OPT_ROW_END };

const opt_row_t opt_arguments[] = {
    { "--args-stdin", OPT_FLAG,
      .help = "Read further options and arguments from standard input, one a line." },
    { "--no-parse", OPT_LIST, .metavar = "argname1,argname2,...",
      .help = "Names of keyword arguments (name=value) whose values stay text and are not read as YAML." },
    OPT_ROW_END
};

const opt_row_t opt_output[] = {
    { "Output Options", OPT_GROUP, .help = "How results are shown." },
    { "--out --output", OPT_STR, .dest = "output",
      .help =
          "Show results with this outputter, for example 'nested', 'json', 'yaml', 'txt' or 'highstate'." },
    { "--out-indent --output-indent", OPT_INT, .dest = "output_indent",
      .help = "Spaces per level for the outputters that indent. A negative number: everything on one line." },
    { "--out-file --output-file", OPT_STR, .dest = "output_file", .help = "Write results to this file." },
    { "--out-file-append --output-file-append", OPT_FLAG, .dest = "output_file_append",
      .help = "Add to the end of that file instead of replacing what it holds." },
    { "--no-color --no-colour", OPT_FLAG, .help = "Use no colours." },
    { "--force-color --force-colour", OPT_FLAG,
      .help = "Use colours even when nobody watches the terminal." },
    { "--state-output --state_output", OPT_STR,
      .help = "How much of each state is shown: 'full', 'terse', 'mixed', 'changes' or 'filter'; with "
              "'_id' behind, states are called by their id. Default: 'state_output' of the configuration." },
    { "--state-verbose --state_verbose", OPT_BOOL,
      .help = "Whether states that are fine and changed nothing are shown: True or False. Default: "
              "'state_verbose' of the configuration." },
    OPT_ROW_END
};

const opt_row_t opt_targets[] = {
    { "Target Options", OPT_GROUP, .help = "What the target is, when it is not a glob over minion ids." },
    { "-E --pcre", OPT_FLAG, .dest = "tgt_type", .value = "pcre",
      .help = "A regular expression over minion ids." },
    { "-L --list", OPT_FLAG, .dest = "tgt_type", .value = "list",
      .help = "Minion ids with commas or blanks between them." },
    { "-G --grain", OPT_FLAG, .dest = "tgt_type", .value = "grain",
      .help = "A grain and a glob over its value: \"os:Debian*\"." },
    { "-P --grain-pcre", OPT_FLAG, .dest = "tgt_type", .value = "grain_pcre",
      .help = "A grain and a regular expression over its value: \"os:(Debian|Ubuntu)\"." },
    { "-N --nodegroup", OPT_FLAG, .dest = "tgt_type", .value = "nodegroup",
      .help = "The name of a node group of the master's configuration." },
    { "-R --range", OPT_FLAG, .dest = "tgt_type", .value = "range",
      .help = "A range expression. Needs a range server, which %prog does not talk to: use -L or -N." },
    { "-C --compound", OPT_FLAG, .dest = "tgt_type", .value = "compound",
      .help =
          "Several kinds of target joined by 'and', 'or', 'not' and parentheses, each but a glob with its "
          "letter in front: 'G@os:Debian and web* or E@db[0-9]+'." },
    { "-I --pillar", OPT_FLAG, .dest = "tgt_type", .value = "pillar",
      .help = "A key of the pillar and a glob over its value: \"role:web*\"." },
    { "-J --pillar-pcre", OPT_FLAG, .dest = "tgt_type", .value = "pillar_pcre",
      .help = "A key of the pillar and a regular expression over its value: \"role:(web|db)\"." },
    { "-S --ipcidr", OPT_FLAG, .dest = "tgt_type", .value = "ipcidr",
      .help = "An IP address or a subnet in CIDR notation." },
    { "Additional Target Options", OPT_GROUP, .help = "More about the target." },
    { "--delimiter", OPT_STR,
      .help = "What stands between the keys of a grain or pillar target. Default: ':'." },
    OPT_ROW_END
};

const opt_row_t opt_daemon[] = { { "-u --user", OPT_STR, .help = "Run %prog as this user." },
                                 { "-d --daemon", OPT_FLAG, .help = "Run %prog in the background." },
                                 { "--pid-file", OPT_STR, .dest = "pidfile",
                                   .help = "File that holds the process id. Default: '/var/run/%prog.pid'." },
                                 OPT_ROW_END };
