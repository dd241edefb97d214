#!/usr/bin/env bats
# Clients that no one here wrote, with their own tests. HALITE_PEPPER and HALITE_SALTGUI name folders with the trees of
# github.com/saltstack/pepper and github.com/erwindon/SaltGUI; without them the tests are skipped.
load lib
load api

setup_file() {
    export FLEET
    API_LINES=("app: ${HALITE_SALTGUI:-/nowhere}/saltgui/index.html" "static: ${HALITE_SALTGUI:-/nowhere}/saltgui/static")
    api_up m1
}
teardown_file() { fleet_down; }

@test "pepper: its unit and integration tests" {
    [ -d "${HALITE_PEPPER:-}" ] || skip "HALITE_PEPPER names no tree of pepper"
    [ -d "${HALITE_SALT:-}/salt" ] || skip "HALITE_SALT names no folder with the package salt, by which pepper prints"
    /usr/bin/python3 -c 'import pytest, mock, setuptools_scm, yaml' 2>/dev/null || skip "modules of its tests are missing (Debian: python3-pytest python3-mock python3-setuptools-scm python3-yaml)"
    stop api
    echo 'token_expire: 94670856' >>"$MASTER_CONF"
    sed -i "s/^sharedsecret: .*/sharedsecret: pepper/; s/^    admin: .*/&\n    pepper: ['.*', '@jobs', '@wheel', '@runner']/" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    start_api
    cp -r "$HALITE_PEPPER" "$BATS_TEST_TMPDIR/pepper"
    cp "$HALITE_SRC/tests/lib/pepper_conftest.py" "$BATS_TEST_TMPDIR/pepper/tests/conftest.py"
    # test_init.py is about how pepper itself was installed.
    cd "$BATS_TEST_TMPDIR/pepper"
    env HOME="$BATS_TEST_TMPDIR" PYTHONWARNINGS=ignore PYTHONPATH="$HALITE_SALT" SETUPTOOLS_SCM_PRETEND_VERSION=0.7.7 PEPPER_PORT="$API_PORT" PEPPER_MINION=m1 PEPPER_CONF="$FLEET/etc" /usr/bin/python3 -B -m pytest -q -p no:cacheprovider --deselect tests/unit/test_init.py tests >"$BATS_TEST_TMPDIR/out" 2>&1 || {
        cat "$BATS_TEST_TMPDIR/out" >&2
        return 1
    }
    tail -n 1 "$BATS_TEST_TMPDIR/out" >&3
}

@test "SaltGUI: what its pages ask for has the shapes that they read" {
    [ -d "${HALITE_SALTGUI:-}" ] || skip "HALITE_SALTGUI names no tree of SaltGUI"
    [ "$(curl -s "$API/" -H 'Accept: text/html')" = "$(<"$HALITE_SALTGUI/saltgui/index.html")" ]
    curl -s "$API/static/scripts/Api.js" | cmp - "$HALITE_SALTGUI/saltgui/static/scripts/Api.js"
}

# The tests are about http://localhost:3333 and the user salt; the page's own file salt-auth.txt names the system of log-ins.
@test "SaltGUI: its functional tests in Chromium" {
    [ -d "${HALITE_SALTGUI:-}/node_modules" ] || skip "HALITE_SALTGUI names no tree of SaltGUI with its node_modules (PUPPETEER_SKIP_DOWNLOAD=1 npm install --ignore-scripts)"
    command -v chromium >/dev/null || skip "chromium is not installed"
    stop api
    cp -r "$HALITE_SALTGUI" "$BATS_TEST_TMPDIR/gui"
    printf 'CLEAR\nsharedsecret\n' >"$BATS_TEST_TMPDIR/gui/saltgui/static/salt-auth.txt"
    sed -i "s#^sharedsecret: .*#sharedsecret: salt#; s#^    admin: .*#&\n    salt: ['.*', '@jobs', '@wheel', '@runner']#; s#^  port: .*#  port: 3333#
        s#$HALITE_SALTGUI#$BATS_TEST_TMPDIR/gui#" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    API_PORT=3333 API=http://127.0.0.1:3333
    start_api
    printf '#!/bin/sh\nexec chromium --no-sandbox --user-data-dir=%s "$@"\n' "$BATS_TEST_TMPDIR/profile" >"$BATS_TEST_TMPDIR/browser"
    chmod +x "$BATS_TEST_TMPDIR/browser"
    cd "$BATS_TEST_TMPDIR/gui"
    PUPPETEER_EXECUTABLE_PATH=$BATS_TEST_TMPDIR/browser command timeout 1500 npx mocha 'tests/functional/*.js' >"$BATS_TEST_TMPDIR/out" 2>&1 || {
        # One of them fails against Salt, too: it waits for a page that SaltGUI's router does not know.
        [ "$(grep -oE '[0-9]+ failing' "$BATS_TEST_TMPDIR/out")" = '1 failing' ] && grep -q 'popup mode' "$BATS_TEST_TMPDIR/out" || {
            tail -n 60 "$BATS_TEST_TMPDIR/out" >&2
            return 1
        }
    }
    grep -E '[0-9]+ (passing|failing)' "$BATS_TEST_TMPDIR/out" >&3
}
