/* pages.c - texts of each command's page that no table of options has: description, examples, files, exit
 * codes and environment. */
#include "api/opts.h"
#include "cli/opts.h"
#include "manual/manual.h"
#include "master/opts.h"
#include "minion/opts.h"

#define END ROW(NULL, NULL)

/* ---- shared ---------------------------------------------------------------------------------- */

#define EXIT_OF_USAGE ROW("64", "The command line is wrong; the error is on standard error.")
#define EXIT_OF_INTERRUPT                                                                                    \
    ROW("130, 143", "Ctrl-C or SIGTERM came: the program ends by that signal. What it began goes on; on "    \
                    "Ctrl-C it says how to find it.")
#define FILE_OF_MASTER                                                                                       \
    ROW("/etc/salt/master, /etc/salt/master.d/*.conf", "The master's configuration: salt-master.conf(5).")
#define FILE_OF_SOCKET                                                                                       \
    ROW("/var/run/salt/master/master.sock", "The socket at which the master is asked: in sock_dir. Root "    \
                                            "and the master's user may ask everything, others "              \
                                            "what publisher_acl lets them.")
#define VARIABLE_OF_FOLDER                                                                                   \
    ROW("SALT_CONFIG_DIR", "The folder of the configuration, when --config-dir is not given.")

static const entry_t shown_variables[] = {
    VARIABLE_OF_FOLDER,
    { "COLUMNS", "How wide --help is." },
    { "NO_COLOR", "When it is set and not empty, results have no colours, unless --force-color says so." },
    END,
};

/* ---- salt ------------------------------------------------------------------------------------ */

static const char *const salt_about[] = {
    "The target is a glob over minion ids, or what an option of the group Target Options says. The "
    "function is a module and a function with a dot between them; several have commas between them. An "
    "argument is YAML: 5 is a number, '[a, b]' a list, and name=value a keyword argument.",
    "Each targeted minion has an answer or a verdict: it is not connected, the job was not delivered, it "
    "runs. Nobody is "
    "waited for who cannot answer any more. The job goes on when this program ends; jobs.lookup_jid of "
    "salt-run(1) shows "
    "what came.",
    "At a terminal, a state run shows meanwhile where each minion is, as in 'web1  2/3 cmd.run, 4 s', and its summary tells failed states "
    "from those that did not run since one that they require failed. Into a pipe nothing of this is written.",
    "What functions there are, a minion says: sys.list_functions, and sys.doc with what each does.",
    NULL,
};
static const entry_t salt_examples[] = {
    { "salt '*' test.ping", "Who is there:" },
    { "salt -G 'os:Debian' cmd.run 'uptime'", "A command on all that run Debian:" },
    { "salt -C 'G@role:web and not web9' state.apply nginx test=True",
      "What a state would change on some, and nothing is changed:" },
    { "salt -b 10% 'web*' service.restart nginx", "A tenth of the web servers at a time:" },
    { "salt --async db1 state.apply\nsalt-run jobs.lookup_jid 20261125101500000001",
      "In the background, and later what came of it:" },
    { "salt web1 sys.doc pkg.install", "What a function does and takes:" },
    END,
};
static const entry_t salt_files[] = { FILE_OF_MASTER, FILE_OF_SOCKET, END };
static const entry_t salt_exits[] = {
    { "0", "Every targeted minion returned, and none failed." },
    { "1", "A minion failed or did not return, or the master refused the request." },
    { "2", "No master could be asked, or the target matches nobody." },
    { "42", "Target or function are missing." },
    EXIT_OF_USAGE,
    EXIT_OF_INTERRUPT,
    END,
};

/* ---- salt-run -------------------------------------------------------------------------------- */

static const char *const run_about[] = {
    "The function is a runner's; the section RUNNERS lists them, and -d prints what each does and takes. "
    "Arguments are YAML, "
    "as those of salt(1). A runner works in the master and goes on when this program ends.",
    "At a terminal, an orchestration is shown as a tree of its steps, with minions and times, and jobs.list_jobs, jobs.active and "
    "orchestrate.list as tables, the newest first; into a pipe, or with --out, by the outputter.",
    NULL,
};
static const entry_t run_examples[] = {
    { "salt-run manage.status", "Which minions are connected:" },
    { "salt-run jobs.list_jobs\nsalt-run jobs.lookup_jid 20261125101500000001",
      "What ran, and what one job returned:" },
    { "salt-run state.orchestrate orch.deploy", "An orchestration, /srv/salt/orch/deploy.sls:" },
    { "salt-run orchestrate.graph orch.deploy format=html --out=newline_values_only >plan.html",
      "What its steps wait for, as a picture that a browser shows:" },
    { "salt-run state.event pretty=True", "The events of the bus as they come:" },
    { "salt-run -d jobs", "What the functions of a runner do and take:" },
    END,
};
static const entry_t run_exits[] = {
    { "0", "The runner is done, and did not fail." },
    { "1", "It failed, or the master refused the request. A runner may end with a code of its own." },
    { "2", "No master could be asked." },
    EXIT_OF_USAGE,
    EXIT_OF_INTERRUPT,
    END,
};

/* ---- salt-key -------------------------------------------------------------------------------- */

static const char *const key_about[] = {
    "A minion that comes for the first time shows its key, which waits until somebody accepts it. Compare "
    "fingerprints before: at a terminal the question shows each key's, with the address that its minion comes "
    "from and since when the key waits; salt-call --local key.finger shows it on the minion. An accepted "
    "key is its id's alone: another machine that claims the id is denied.",
    "Without an action all keys are listed. This works on the key files and without a running master; one "
    "that runs is told, and "
    "cuts the connections of a key that is deleted or rejected.",
    NULL,
};
static const entry_t key_examples[] = {
    { "salt-key -L", "All keys by their states:" },
    { "salt-key -f web1", "The fingerprint of a key, to compare it:" },
    { "salt-key -a web1", "One is accepted:" },
    { "salt-key -y -d 'test*'", "Several are deleted, and nobody is asked:" },
    { "salt-key -l pre --out=json", "Those that wait, for a script:" },
    END,
};
static const entry_t key_files[] = {
    FILE_OF_MASTER,
    { "/etc/salt/pki/master/minions",
      "Accepted keys, a file for each id. Beside it minions_pre, minions_rejected and minions_denied." },
    { "/etc/salt/pki/master/master.pub", "The master's own public key." },
    END,
};
static const entry_t key_exits[] = {
    { "0", "Done." },
    { "1", "Something could not be done, or the glob of an action fits no key." },
    { "2", "The configuration is wrong." },
    EXIT_OF_USAGE,
    END,
};

/* ---- salt-call ------------------------------------------------------------------------------- */

static const char *const call_about[] = {
    "The function and its arguments are as those of salt(1). Files and pillar come from the master, in a "
    "session of its own "
    "beside that of a running salt-minion(8), with the same key; with --local they come from this host and "
    "no master is asked.",
    NULL,
};
static const entry_t call_examples[] = {
    { "salt-call state.apply", "This host becomes as the master's states want it:" },
    { "salt-call --local --file-root=/srv/salt state.apply nginx test=True",
      "What a state of this host would change, without a master:" },
    { "salt-call --local key.finger", "The fingerprint of this minion's key:" },
    { "salt-call --local grains.items", "What is known of this host:" },
    { "salt-call -d file.managed", "What a function does and takes:" },
    END,
};
static const entry_t call_files[] = {
    { "/etc/salt/minion, /etc/salt/minion.d/*.conf", "The minion's configuration: salt-minion.conf(5)." },
    { "/etc/salt/pki/minion", "Its key, and the master's." },
    { "/var/cache/salt/minion", "What it keeps: files of the master, jobs, grains that take long." },
    END,
};
static const entry_t call_exits[] = {
    { "0", "The function is done and did not fail." },
    { "1", "It failed, or could not be called. With --retcode-passthrough the function's own return code." },
    { "255", "There is no such function." },
    EXIT_OF_USAGE,
    END,
};

/* ---- salt-cp --------------------------------------------------------------------------------- */

static const char *const cp_about[] = {
    "The target is as that of salt(1). Without --chunked the files must be text and small; with it they are "
    "of any size and "
    "content, and a folder goes with all that is in it.",
    NULL,
};
static const entry_t cp_examples[] = {
    { "salt-cp 'web*' /etc/motd /etc/motd", "One file to the same place:" },
    { "salt-cp -C -G 'os:Debian' ./site /srv/www/", "A folder with all that is in it:" },
    END,
};
static const entry_t cp_exits[] = {
    { "0", "Every targeted minion has the files." },
    { "1", "A file could not be read, or a minion failed or did not return." },
    { "2", "No master could be asked." },
    { "42", "Target, source or destination are missing, or a source is not there." },
    EXIT_OF_USAGE,
    EXIT_OF_INTERRUPT,
    END,
};

/* ---- the daemons ----------------------------------------------------------------------------- */

#define RELOADS                                                                                              \
    "SIGTERM and SIGINT end it in order; SIGHUP reads the configuration again, and log files are opened "    \
    "anew. Which options take effect then, their own page says."

static const char *const master_about[] = {
    "It listens on three ports: publish_port (4505) and ret_port (4506), both encrypted, and hello_port "
    "(4507), which tells a minion that comes "
    "for the first time the master's public key. Operators ask it through a local socket, with salt(1), "
    "salt-run(1), salt-key(1) and "
    "salt-cp(1).",
    RELOADS,
    NULL,
};
static const entry_t master_examples[] = {
    { "salt-master -l debug", "In the foreground, with all that it does on the terminal:" },
    { "systemctl start salt-master\nsystemctl reload salt-master",
      "As a service, and with a changed configuration:" },
    END,
};
static const entry_t master_files[] = {
    FILE_OF_MASTER,
    { "/etc/salt/pki/master", "The master's key and its minions'." },
    { "/srv/salt, /srv/pillar", "State files and pillar: file_roots and pillar_roots." },
    { "/var/cache/salt/master/jobs.db", "Jobs, returns, events, and what minions said last." },
    FILE_OF_SOCKET,
    { "/var/log/salt/master", "The log: log_file." },
    END,
};
static const entry_t daemon_exits[] = {
    { "0", "It was ended in order." },
    { "1", "It could not start; the reason is on standard error and in the log." },
    EXIT_OF_USAGE,
    { "71", "There was no memory left." },
    END,
};
static const entry_t daemon_variables[] = {
    VARIABLE_OF_FOLDER,
    { "NOTIFY_SOCKET", "Where systemd wants to hear that it is ready." },
    { "NO_COLOR", "When it is set and not empty, the log on the terminal has no colours." },
    END,
};

static const char *const api_about[] = {
    "It serves Salt's REST API (rest_cherrypy) over HTTP, for SaltGUI, pepper and other programs: log-in, functions of "
    "minions and of the master, jobs, keys, streams of events. The section rest_cherrypy of the master's configuration "
    "says where; netapi_enable_clients what may be asked; external_auth who may do what.",
    "It has no rights of its own: each request reaches the master's local socket as the user who has logged in, and the "
    "master looks at his rules. Without TLS it listens on loopback only.",
    "Browsers get a page at / that shows fleet, jobs, states, orchestrations and events to who has logged in, and changes "
    "nothing. The option app of rest_cherrypy puts another one, as SaltGUI, in its place; page: False none.",
    "SIGHUP opens its log files again. Other changes of the configuration need a new start.",
    NULL,
};
static const entry_t api_examples[] = {
    { "salt-api -l debug", "In the foreground, with all that it does on the terminal:" },
    { "curl -sk https://localhost:8000/login -H 'Accept: application/json' -d eauth=pam -d username=jane -d "
      "password=PASSWORD",
      "Log in; the answer has a token for the header X-Auth-Token:" },
    { "curl -sk https://localhost:8000 -H 'X-Auth-Token: TOKEN' -d client=local -d 'tgt=*' -d fun=test.ping",
      "Call a function:" },
    END,
};
static const entry_t api_files[] = {
    FILE_OF_MASTER,
    FILE_OF_SOCKET,
    { "/var/log/salt/api", "The log: api_logfile." },
    END,
};

static const char *const minion_about[] = {
    "It connects to the masters that its configuration names, shows its key, and waits until that is "
    "accepted: salt-key(1). Each job "
    "runs in a process of its own. Returns that a master has not acknowledged are kept on the disk.",
    RELOADS,
    NULL,
};
static const entry_t minion_examples[] = {
    { "salt-minion -l debug", "In the foreground, with all that it does on the terminal:" },
    { "systemctl start salt-minion", "As a service:" },
    END,
};
static const entry_t minion_files[] = {
    { "/etc/salt/minion, /etc/salt/minion.d/*.conf", "The configuration: salt-minion.conf(5)." },
    { "/etc/salt/minion_id", "The id that was found at the first start, when none is configured." },
    { "/etc/salt/pki/minion", "Its key, and the master's." },
    { "/var/cache/salt/minion", "Returns that wait, files of the master, grains that take long." },
    { "/var/log/salt/minion", "The log: log_file." },
    END,
};

/* ---- all ------------------------------------------------------------------------------------- */

static const page_t pages[] = {
    { .spec = &opts_salt,
      .section = 1,
      .summary = "run functions on minions",
      .about = salt_about,
      .examples = salt_examples,
      .files = salt_files,
      .exits = salt_exits,
      .variables = shown_variables,
      .see = "salt-run(1) salt-key(1) salt-cp(1) salt-call(1) salt-master(8) salt-minion(8) "
             "salt-master.conf(5)" },
    { .spec = &opts_run,
      .section = 1,
      .summary = "run functions on the master",
      .about = run_about,
      .examples = run_examples,
      .files = salt_files,
      .exits = run_exits,
      .variables = shown_variables,
      .runners = true,
      .see = "salt(1) salt-key(1) salt-master(8) salt-master.conf(5)" },
    { .spec = &opts_key,
      .section = 1,
      .summary = "manage the keys of minions",
      .about = key_about,
      .examples = key_examples,
      .files = key_files,
      .exits = key_exits,
      .variables = shown_variables,
      .see = "salt(1) salt-run(1) salt-master(8) salt-master.conf(5)" },
    { .spec = &opts_call,
      .section = 1,
      .summary = "run functions on this host",
      .about = call_about,
      .examples = call_examples,
      .files = call_files,
      .exits = call_exits,
      .variables = shown_variables,
      .see = "salt(1) salt-minion(8) salt-minion.conf(5)" },
    { .spec = &opts_cp,
      .section = 1,
      .summary = "copy files to minions",
      .about = cp_about,
      .examples = cp_examples,
      .files = salt_files,
      .exits = cp_exits,
      .variables = shown_variables,
      .see = "salt(1) salt-master(8) salt-master.conf(5)" },
    { .spec = &opts_master,
      .section = 8,
      .summary = "the master",
      .about = master_about,
      .examples = master_examples,
      .files = master_files,
      .exits = daemon_exits,
      .variables = daemon_variables,
      .see =
          "salt(1) salt-run(1) salt-key(1) salt-cp(1) salt-minion(8) salt-master.conf(5) salt-returners(7)" },
    { .spec = &opts_api,
      .section = 8,
      .summary = "the REST API of a master",
      .about = api_about,
      .examples = api_examples,
      .files = api_files,
      .exits = daemon_exits,
      .variables = daemon_variables,
      .see = "salt-master(8) salt(1) salt-run(1) salt-master.conf(5)" },
    { .spec = &opts_minion,
      .section = 8,
      .summary = "the minion",
      .about = minion_about,
      .examples = minion_examples,
      .files = minion_files,
      .exits = daemon_exits,
      .variables = daemon_variables,
      .see = "salt-call(1) salt(1) salt-master(8) salt-minion.conf(5) salt-beacons(7) salt-returners(7)" },
};

const page_t *
manual_pages(size_t *ret_n)
{
    *ret_n = NELEMS(pages);
    return pages;
}
