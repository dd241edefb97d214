/* limits.h - every bound of Halite by name, in bytes or milliseconds unless the name says otherwise. */
#ifndef SALT_LIMITS_H
#define SALT_LIMITS_H

#define LIMIT_ID_LEN          255  /* a minion id, as a file name must hold it */
#define LIMIT_JID_LEN         32   /* a jid with room for suffixes */
#define LIMIT_JID_AHEAD_S     3600 /* by which a minion's clock may be ahead in the jids that it makes */
#define LIMIT_PILLAR_TERMS    16   /* comparisons with a pillar in one target of a minion or a user */
#define LIMIT_TAG_LEN         1024 /* an event tag */
#define LIMIT_JSON_DEPTH      512  /* nesting of any JSON from a peer */
#define LIMIT_FRAME_DEPTH     544  /* the same between our processes, which pass a peer's JSON on */
#define LIMIT_WIRE_MSG        (16 * 1024 * 1024)    /* one message between minion and master */
#define LIMIT_WIRE_SMALL      (64 * 1024)           /* hello, acknowledgements, requests */
#define LIMIT_HELLO_MSG       256                   /* one question on the plaintext hello port */
#define LIMIT_HELLO_ANSWER    2048                  /* its answer */
#define LIMIT_TEMPLATE        (4 * 1024 * 1024)     /* source of one template */
#define LIMIT_TEMPLATE_NEST   200                   /* statements, parentheses and calls inside each other */
#define LIMIT_TEMPLATE_CHAIN  1000                  /* operators, filters or subscripts in a row */
#define LIMIT_TEMPLATE_OUTPUT (64 * 1024 * 1024)    /* text that one render makes */
#define LIMIT_TEMPLATE_BYTES  (1024L * 1024 * 1024) /* live values of one render */
#define LIMIT_TEMPLATE_STEPS  200000000             /* loop turns and evaluated nodes of one render */
#define LIMIT_TEMPLATE_TIME   120000                /* of one render */
#define LIMIT_TEMPLATE_DEPTH  1000                  /* calls, includes and containers inside each other */
#define LIMIT_TEMPLATE_MARKS  1000000               /* places that one render remembers for messages */
#define LIMIT_PYTHON_MEMORY   (1024L * 1024 * 1024) /* address space of the interpreter of #!py files */
#define LIMIT_PYTHON_MESSAGE  (64 * 1024 * 1024)    /* one message of the interpreter */
#define LIMIT_PYTHON_CHECK_MS 30000                 /* loading the custom modules that a sync brought */
#define LIMIT_ADDRESSES                                                                                      \
    (64 * 1024 * 1024)           /* a configuration whose values are asked of stores, or the answer */
#define LIMIT_ADDRESSES_MS 20000 /* for the stores of all values at addresses of a configuration */
#define LIMIT_ADDRESSES_RELOAD_MS                                                                            \
    5000 /* the same in a reload, for which all else in a daemon waits; then the old configuration stays */
#define LIMIT_ZYGOTE_MEMORY                                                                                  \
    (100 * 1024 * 1024)             /* of an interpreter that forks others, after which it imports no more */
#define LIMIT_ZYGOTE_IDLE_S    300  /* without work, after which it leaves */
#define LIMIT_TEMPLATES_CACHED 1000 /* compiled templates that an engine keeps */
#define LIMIT_LOCAL_MSG        (64 * 1024 * 1024) /* one request or event on the local socket */
#define LIMIT_ARGS_STDIN       (64 * 1024 * 1024) /* options and arguments read from stdin */
#define LIMIT_WATCHED          50    /* minions of a job that say where they are, when asked to */
#define LIMIT_NAMES            1000  /* names that one completion answers */
#define LIMIT_NAMES_ASKED      64    /* completions that wait for names of files at one time */
#define LIMIT_NAMES_SEEN       20000 /* entries of a folder that a completion looks at */
#define LIMIT_LOCAL_QUEUE      (32 * 1024 * 1024) /* unsent bytes of answers per connection, or per user */
#define LIMIT_LOCAL_CLIENTS    2048               /* operators' connections at one time */
#define LIMIT_LOCAL_USER_MSG                                                                                 \
    (4 * 1024 * 1024) /* one request of an operator who is neither root nor the master's user */
#define LIMIT_AUTH_MSG              (64 * 1024) /* a question to salt-auth, or its answer */
#define LIMIT_AUTH_NAME             256         /* bytes of a user's name that logs in */
#define LIMIT_AUTH_ATTEMPTS         256         /* logins under way */
#define LIMIT_AUTH_TRIES            512         /* users of whom failed logins are counted */
#define LIMIT_AUTH_CHILDREN         32          /* logins that salt-auth asks its systems for at one time */
#define LIMIT_TOKENS                100000      /* tokens that hold */
#define LIMIT_LOCAL_USER_LINES      64          /* such an operator's connections at one time */
#define LIMIT_MASTER_FILES          80          /* descriptors without which a master does not start */
#define LIMIT_MINION_FILES          32          /* the same of a minion */
#define LIMIT_PENDING_KEYS          1000        /* keys that wait for acceptance */
#define LIMIT_MINION_LINES          16 /* connections of one key to the ROUTER: the minion's and salt-call's */
#define LIMIT_STRANGER_LINES        8  /* the same of a key that is not accepted */
#define LIMIT_MINION_SUBS           4  /* connections of one key to the PUB */
#define LIMIT_UNPROVEN              100 /* messages on one connection while its key is not accepted */
#define LIMIT_STRANGER_BYTES        (256 * 1024) /* unread from one connection without an accepted key */
#define LIMIT_STRANGERS_BYTES       (256 * 1024 * 1024) /* of all such connections, shared equally */
#define LIMIT_STRANGER_LEAST        (8 * 1024)          /* but not less than this */
#define LIMIT_COPY_IDLE             3600 /* seconds that an unfinished file of salt-cp is kept */
/* Events that peers without an accepted key cause, and log lines about peers: a second, and at once. */
#define LIMIT_STRANGER_EVENTS_RATE  20
#define LIMIT_STRANGER_EVENTS_BURST 1000 /* of all keys that are not accepted */
#define LIMIT_REFUSED_EVENTS_RATE   1    /* events about refused requests, */
#define LIMIT_REFUSED_EVENTS_BURST  20   /* of each kind */
#define LIMIT_SALT_ADDRESSES        1024 /* addresses of Salt peers whose last answer is remembered */
#define LIMIT_NOISE_RATE            10
#define LIMIT_NOISE_BURST           50 /* log lines about misbehaviour of peers */
#define LIMIT_REKEYS_RATE           20
#define LIMIT_REKEYS_BURST          50 /* next keys of minions that are written to the disk */
#define LIMIT_REKEYS_MINION         20 /* the same of one minion, at once, */
#define LIMIT_REKEY_EACH            10 /* and then one in so many seconds */
#define LIMIT_GATE_EVENTS_RATE      1
#define LIMIT_GATE_EVENTS_BURST     5 /* events about connections that are turned away */
#define LIMIT_AUDIT_RATE            20
#define LIMIT_AUDIT_BURST           1000 /* lines of the audit log that each kind of outsider causes */
#define LIMIT_LARGE_RATE                                                                                     \
    (16 * 1024 * 1024) /* bytes a second of one minion in messages larger than a chunk of a file */
#define LIMIT_LARGE_BURST    (128 * 1024 * 1024) /* and at once */
/* KB a second, and at once, of one minion's events and of its returns without a job. Each counts at least
 * 1 KB. So a single minion needs an hour to displace the other events in the journal. */
#define LIMIT_TOLD_RATE      256
#define LIMIT_TOLD_BURST     (128 * 1024)
#define LIMIT_GRAINS_RATE    256         /* KB a second of one minion's grains, */
#define LIMIT_GRAINS_BURST   (64 * 1024) /* and at once */
#define LIMIT_GRAINS_WORK    64          /* KB of them that one millisecond of the front loop costs */
#define LIMIT_GRAINS_VALUES  100000      /* in one minion's grains, and in one question for its pillar */
#define LIMIT_WIRE_VALUES    500000      /* in one event or one message to the mine */
#define LIMIT_RET_VALUES     1000000     /* in one return */
#define LIMIT_RETS_RATE      100         /* milliseconds of the front loop, a second, */
#define LIMIT_RETS_BURST     2000        /* and at once, for one minion's returns of which values are made */
#define LIMIT_PEER_WAITING   (64 * 1024 * 1024)  /* unread from one accepted minion */
#define LIMIT_PEER_UNREAD    (128 * 1024 * 1024) /* sent to one accepted minion that does not read */
#define LIMIT_SUB_MSG        4096 /* a minion's messages on its subscription: handshake, one byte */
#define LIMIT_PEER_QUEUE     16   /* messages of one minion that wait in the master's socket */
#define LIMIT_SYSLOG_LINE    8192 /* bytes of a line to a syslog daemon; longer ones are cut */
#define LIMIT_CONF_FILE      (4 * 1024 * 1024)   /* one configuration file */
#define LIMIT_YAML_DEPTH     200                 /* nesting of a YAML document */
#define LIMIT_YAML_NODES     2000000             /* nodes of a YAML document after aliases are followed */
#define LIMIT_YAML_TEXT      (256 * 1024 * 1024) /* bytes of their texts */
#define LIMIT_TARGET_LEN     (1024 * 1024)       /* a target expression (long lists are real) */
#define LIMIT_TARGET_DEPTH   64                  /* parentheses and nested node groups */
#define LIMIT_TARGET_TERMS   65536   /* words of a compound target after node groups are expanded */
#define LIMIT_MATCH_STEPS    100000  /* values looked at for one grain or pillar expression */
#define LIMIT_REGEX_STEPS    1000000 /* PCRE2 match limit */
#define LIMIT_PILLAR_DEPTH   100     /* SLS of the pillar that include each other */
#define LIMIT_PILLAR_TIME    60000   /* of one compile, unless the option pillar_timeout says otherwise */
#define LIMIT_PILLAR_READS   20000   /* files that a kept pillar depends on; one of more is not kept */
#define LIMIT_PILLAR_WORKERS 4       /* pillars that a master compiles at one time */
#define LIMIT_PILLAR_QUEUE   20000   /* questions for a pillar that wait */
#define LIMIT_PILLAR_EACH    64      /* of one minion */
#define LIMIT_PILLAR_BYTES   (128 * 1024 * 1024)    /* bytes of those questions; a quarter for one minion */
#define LIMIT_PILLAR_KEPT    (64 * 1024 * 1024)     /* bytes of compiled pillars that a master keeps */
#define LIMIT_EXT_PILLAR     (16 * 1024 * 1024)     /* data of one external pillar source */
#define LIMIT_JOB_OUTPUT     (8 * 1024 * 1024)      /* result that a job's child may write back */
#define LIMIT_JOB_MEMORY     (2048UL * 1024 * 1024) /* address space of a job's child */
#define LIMIT_MINE           (15 * 1024 * 1024)     /* one minion's data in the mine, as JSON */
#define LIMIT_FAILED_STATES  1000                   /* failed states of one return that cause events */
#define LIMIT_JOBS_RUNNING   256                    /* children of one minion at one time */
#define LIMIT_UNDER_WAY                                                                                      \
    (32 * 1024 * 1024) /* bytes of returns and events sent to masters and not yet acknowledged */
#define LIMIT_UNSPOOLED         (64 * 1024 * 1024) /* bytes of returns in memory while the disk refuses them */
#define LIMIT_EVENTS_KEPT       10000              /* events that wait for a master */
#define LIMIT_EVENTS_KEPT_BYTES (64 * 1024 * 1024)
#define LIMIT_SPOOL_FILES       100000 /* returns that wait for a master */
#define LIMIT_HELLO_JIDS        2000   /* jobs that a minion names in its hello */
#define LIMIT_CLAIM_GRAINS      32     /* grains of autosign_grains in a hello, */
#define LIMIT_CLAIM_TEXT        1024   /* and bytes of the name and of the value of each */
#define LIMIT_HELLO_ELSEWHERE   500    /* of those, jobs whose returns other masters have */
#define LIMIT_RELEASE           32     /* the version that a peer claims, with its NUL */
#define LIMIT_BOOT              40     /* the name of a minion's start there, with its NUL */
#define LIMIT_MASTERS           16     /* masters of one minion */
#define LIMIT_JIDS_SEEN                                                                                      \
    4096 /* jids a minion remembers to drop a repeat; as many whose returns other masters have */
#define LIMIT_SQL_STORE_S       60    /* for one answer of a database that keeps events and returns */
#define LIMIT_RETURNER_MS       60000 /* for a returner to store one return */
#define LIMIT_CMD_OUTPUT        (64 * 1024 * 1024) /* stdout and stderr of a program run by a module */
#define LIMIT_TOOL_MS           300000 /* a program of the host that changes mounts, clock, locale and the like */
#define LIMIT_SQL_CONNECT_S     10     /* until a database server has let a client in */
#define LIMIT_SQL_ANSWER_S      3600 /* for one answer of it: a change of a large table takes long */
#define LIMIT_HOST_FILE         (4 * 1024 * 1024)     /* a file under /proc, /sys or /etc, for grains */
#define LIMIT_FILE_READ         (64 * 1024 * 1024)    /* a file a module reads whole */
#define LIMIT_KEY_FILE          (16 * 1024)           /* a PEM file */
#define LIMIT_DIFF_FILE         (16 * 1024 * 1024)    /* a text file whose difference is shown by lines */
#define LIMIT_DIFF_TEXT         (1024 * 1024)         /* the text of such a difference */
#define LIMIT_FIELD_TEXTS       1000                  /* texts of a pattern whose fields are lists */
#define LIMIT_CALL_DEPTH        64                    /* module functions that call each other */
#define LIMIT_STATES_PARALLEL   64                    /* states of one run that are at work at one time */
#define LIMIT_STORE_BATCH       4000                  /* rows in one commit */
#define LIMIT_STORE_BATCH_BYTES (4 * 1024 * 1024)     /* bytes in one commit, unless one row has more */
#define LIMIT_STORE_QUEUE       200000                /* rows that wait for the writer */
#define LIMIT_STORE_BYTES       (512UL * 1024 * 1024) /* bytes of the rows that wait for the writer */
#define LIMIT_SILENCE_S                                                                                      \
    86400 /* seconds: the longest time to wait for silent minions, also by the option timeout */
#define LIMIT_UNFINISHED_DAYS                                                                                \
    30 /* age up to which unfinished jobs are taken up again and runs can be resumed */
#define LIMIT_RESTORED_BYTES                                                                                 \
    (64 * 1024 * 1024) /* rows of unfinished jobs that a master takes up again: at its start; for users */
#define LIMIT_JOBS_LISTED      100000  /* jobs in one answer of the store */
#define LIMIT_LISTEN_TAGS      1000    /* patterns of one listener */
#define LIMIT_USER_BATCHES     64      /* batches under way of one local user without admin rights */
#define LIMIT_USER_TAGS        64      /* the same of all connections of a local user without admin rights */
#define LIMIT_EVENT_JOURNAL    1000000 /* events kept in the journal, within LIMIT_JOURNAL_BYTES */
#define LIMIT_RUNNER_WORKERS   32      /* runners at one time */
#define LIMIT_RUNNER_REACTIONS 24      /* the reactor starts runners only while fewer than this run */
#define LIMIT_RUNNER_QUICK     8       /* further places for functions that only read */
#define LIMIT_RUNNER_NESTED    128     /* runners at one time, including those that runners start */
#define LIMIT_RUNNER_DEPTH     16      /* runners that start one another in a row */
#define LIMIT_NOTE_LEN         1024    /* each of a note's three texts */
#define LIMIT_RUNNER_QUEUE     1000    /* runners that wait for their turn */
#define LIMIT_BEACON_RATE      100     /* events of one beacon a second, */
#define LIMIT_BEACON_BURST     1000    /* and at once; further ones are counted, and told as one */
#define LIMIT_BEACON_MS        60000   /* one look that runs programs, functions or Python */
#define LIMIT_BEACON_READ      (64 * 1024)        /* bytes that one look takes from a descriptor or a log */
#define LIMIT_BEACON_WATCHES   8192               /* folders and files that one beacon watches */
#define LIMIT_REACTOR_WINDOW   604800             /* seconds that a rule of the reactor may look back */
#define LIMIT_REACTOR_CONDS    64                 /* conditions of one rule */
#define LIMIT_REACTOR_GROUPS   10000              /* groups that one rule remembers */
#define LIMIT_REACTOR_MEMORY   (16 * 1024 * 1024) /* bytes of JSON that one rule remembers, roughly */
#define LIMIT_REACTOR_EVENTS   100                /* events that a held reaction shows */
#define LIMIT_REACTOR_BYTES    (64 * 1024 * 1024) /* of events that are reacted to at one time */
#define LIMIT_REACTOR_WORKERS  16                 /* files that render at one time */
#define LIMIT_REACTOR_KIN      20000              /* jobs of reactions whose descent is remembered, twice */
#define LIMIT_REACTOR_CHAIN    10                 /* how often a reaction may descend from itself */
#define LIMIT_REACTIONS        1000               /* reactions of one file to one event */
#define LIMIT_PY_VALUE         (1024UL * 1024 * 1024) /* one value of a template: a text, a list, an integer */
#define LIMIT_PY_INT_BITS      (8 * 1024 * 1024)      /* one integer of a template */
#define LIMIT_PY_DEPTH         400 /* nested values and calls of a template, unless its scope says less */
#define LIMIT_PEER_WIRE                                                                                      \
    1000000 /* containers in a value of a message that a single mark covers as data of peers */
#define LIMIT_PEER_LOOK         10000   /* containers searched for peers' data; all beyond counts as theirs */
#define LIMIT_DEB822_FIELDS     1024    /* fields of one paragraph of dpkg's status or of *.sources */
#define LIMIT_SLS_DEPTH         1000    /* SLS files that include each other in a row */
#define LIMIT_SLS_FILES         100000  /* SLS files of one compilation */
#define LIMIT_REQUISITES        2000000 /* targets of require_in, use and the like in one compilation */
#define LIMIT_REQUISITE_REPEATS 500     /* targets of one such list that are repeated for each further one */
#define LIMIT_SUGGESTIONS       50      /* errors of one compilation that come with a suggestion */
#define LIMIT_APT_SOURCES       65536   /* entries of all of apt's lists of sources */
#define LIMIT_FILE_LIST         1000000 /* files and folders of one environment of the file server */
#define LIMIT_FILE_DEPTH        100     /* folders inside each other below a root */
#define LIMIT_FILE_CHUNK        (256 * 1024)          /* bytes of a file in one message */
#define LIMIT_FILE_CREDIT       16                    /* chunks under way to one connection */
#define LIMIT_FILE_UNDER_WAY    (512UL * 1024 * 1024) /* bytes of all files under way at one time */
#define LIMIT_FILE_OPEN         256                   /* files that a master reads at one time */
#define LIMIT_FILE_WAITING      100000                /* requests for files that wait for their turn */
#define LIMIT_FILE_PEER         16                    /* requests for files of one connection */
#define LIMIT_FILE_TEXT         (48 * 1024 * 1024)    /* a list of files as JSON text */
#define LIMIT_FILE_MINION       32                    /* of the files read at one time, for one minion */
#define LIMIT_FILE_MINION_BYTES (64 * 1024 * 1024)    /* of the bytes under way, to one minion */
#define LIMIT_FILE_STALL        120000                /* a transfer without any progress */
#define LIMIT_FILE_STALL_FULL   5000  /* the same with nothing under way, while others wait for its place */
#define LIMIT_FILE_HASHES       20000 /* hashes of files that a file server remembers */

/* Cost of resolving a target, over all minions: steps (values, and steps of regular expressions), and
 * milliseconds of the front loop. For a minion or a user; for an administrator; for a value's allow_tgt. */
#define LIMIT_WORK_STEPS       10000000
#define LIMIT_WORK_TIME        100
#define LIMIT_WORK_EACH        20 /* microseconds more for each accepted minion, as each is looked at */
#define LIMIT_WORK_ADMIN_STEPS 1000000000
#define LIMIT_WORK_ADMIN_TIME  10000
#define LIMIT_WORK_ALLOW_STEPS 100000
#define LIMIT_WORK_ALLOW_TIME  20
#define LIMIT_WORK_PATTERN     512   /* steps that one pattern of publisher_acl on one function counts as */
#define LIMIT_JOB_FUNCTIONS    256   /* functions of one job */
#define LIMIT_INNER_NODES      10000 /* values in one NAME=VALUE of a function that calls others by name */
#define LIMIT_INNER_TEXT       (256 * 1024) /* bytes of one */
#define LIMIT_AUDIT_SAID       4096 /* bytes of a request's functions, and of its target, in the audit log */
#define LIMIT_TERM_LEN         4096 /* one word of a minion's or a user's target, unless it is a list of ids */
#define LIMIT_MINE_DEPTH       100  /* levels of one value of the mine; a pillar message makes four of each */
#define LIMIT_MINE_NAMES       1000 /* names in one question to the mine */
#define LIMIT_MINE_RATE        100  /* milliseconds of the front loop, a second, */
#define LIMIT_MINE_BURST       1000 /* and at once, for one minion's questions to the mine */

#define LIMIT_PEER_EACH   16   /* jobs and runners of one minion's asking that it waits for, */
#define LIMIT_PEER_ALL    512  /* and of all minions' */
#define LIMIT_PEER_WAIT_S 3600 /* seconds that it may wait for one */

#define LIMIT_EVENTS_FIRED 10000 /* events in one request */
#define LIMIT_EVENTS_RECENT                                                                                  \
    (32 * 1024 * 1024) /* bytes of events in memory, which a listener may lag behind */
#define LIMIT_EVENTS_WAITING (16 * 1024 * 1024) /* bytes that wait for the disk; above it firing waits */
#define LIMIT_EVENTS_AHEAD   16384              /* numbers of events that are reserved on the disk */
#define LIMIT_JOURNAL_BYTES  (1024L * 1024 * 1024)
#define LIMIT_JOURNAL_PIECE  (1024 * 1024) /* bytes of the journal in one answer */

#endif
