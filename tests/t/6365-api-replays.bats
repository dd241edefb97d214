#!/usr/bin/env bats
# Known clients by their calls (lib/api_clients.py), and npm's salt-api, which takes events by npm's eventsource: HALITE_NPM names a
# folder with them in node_modules (npm install salt-api).
load lib
load api

setup_file() {
    export FLEET
    api_up m1
}
teardown_file() { fleet_down; }

replay() { python3 -B "$HALITE_SRC/tests/lib/api_clients.py" "$API" "$1"; }

@test "Rundeck's step: a form, a job that is polled" { replay rundeck; }
@test "Jenkins' plug-in: all its clients, a build that blocks, a hook" { replay jenkins; }
@test "the Java client: sessions, credentials in each chunk, a stream of events" { replay suse; }

@test "npm's salt-api and eventsource" {
    [ -d "${HALITE_NPM:-}/node_modules/salt-api" ] || skip "HALITE_NPM names no folder with node_modules/salt-api"
    cd "$HALITE_NPM"
    API=$API node --input-type=module -e '
        const { Salt } = await import("salt-api");
        const salt = new Salt({ url: process.env.API, username: "admin", password: "secret", eauth: "sharedsecret" });
        await salt.login();
        const minions = await salt.minions();
        if (!minions.return[0].m1.os) throw new Error(JSON.stringify(minions));
        const said = await salt.fun("m1", "test.echo", { arg: ["words of npm"] });
        if (said.return[0].m1 !== "words of npm") throw new Error(JSON.stringify(said));
        const late = setTimeout(() => process.exit(1), 20000);
        const stream = await salt.eventSource(); // the package eventsource
        stream.onmessage = (message) => {
            if (JSON.parse(message.data).tag.endsWith("/ret/m1")) { clearTimeout(late); stream.close(); }
        };
        stream.onopen = () => salt.fun("m1", "test.ping");
        const jobs = await salt.jobs();
        if (!Object.values(jobs.return[0]).some((job) => job.Function === "test.echo")) throw new Error(JSON.stringify(jobs));
    '
}
