# environment.sh - what tests see of their caller's environment; sourced by run.sh and by tests/t/lib.bash. The answers of tests are
# those of a plain terminal in UTF-8 with nothing between it and loopback: whoever runs them may have a dumb terminal, a narrow
# one, another language, or a proxy. Once is enough: what setup_file of a test exports is for its tests.
if [ -z "${HALITE_TESTED:-}" ]; then
    export HALITE_TESTED=1 TERM=xterm LANG=C.UTF-8
    # cmd.run starts the user's shell, whose messages name it; the recorded ones are bash's.
    export SHELL=/bin/bash
    unset COLUMNS LINES NO_COLOR LANGUAGE "${!LC_@}"
    unset http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY
    unset SALT_CONFIG_DIR SALT_SALTFILE SALT_MASTER_CONFIG SALT_MINION_CONFIG HALITE_AUTH_AUTO
    unset DOCKER_HOST DOCKER_CONFIG DPKG_ROOT DPKG_ADMINDIR GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
    # Without PYTHONUNBUFFERED a program in Python keeps its output to itself, unless it flushes it.
    unset PYTHONUNBUFFERED PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONWARNINGS PYTHONUTF8 PYTHONIOENCODING
    # Programs that import others of tests/lib leave nothing in the sources.
    export PYTHONDONTWRITEBYTECODE=1
fi
