"""The fixtures that pepper's tests want, with a master of Halite that runs already: copied over pepper's tests/conftest.py, which
starts daemons of Salt. PEPPER_PORT, PEPPER_MINION and PEPPER_CONF (folder of the master's configuration) say where it is."""
import json
import os
import sys
import types

import pytest
import yaml

import pepper
import pepper.script

PORT = os.environ["PEPPER_PORT"]
SECTION = """
[{name}]
SALTAPI_URL={scheme}://localhost:%s/
SALTAPI_USER={user}
SALTAPI_PASS={user}
SALTAPI_EAUTH={eauth}
""" % PORT


@pytest.fixture(scope="session")
def salt_api_port():
    return int(PORT)


@pytest.fixture(scope="session")
def pepperconfig():
    text = "".join(SECTION.format(name=name, scheme="http", user="pepper", eauth="sharedsecret") for name in ("main", "pepper"))
    text += SECTION.format(name="baduser", scheme="http", user="saltdev", eauth="pam")
    text += "[badapi]\nSALTAPI_URL=git://localhost:%s/\n" % PORT
    text += "[noapi]\nSALTAPI_USER=pepper\nSALTAPI_PASS=pepper\nSALTAPI_EAUTH=sharedsecret\n"
    text += "[noopts]\nSALTAPI_URL=http://localhost:%s/\n" % PORT
    with open("tests/.pepperrc", "w") as file:
        file.write(text)
    yield
    os.remove("tests/.pepperrc")


@pytest.fixture(scope="session")
def session_salt_api():
    return None


@pytest.fixture(scope="session")
def salt_api_backend():
    return "rest_cherrypy"


@pytest.fixture
def pepper_client(salt_api_port):
    client = pepper.Pepper("http://localhost:%d" % salt_api_port)
    client.login("pepper", "pepper", "sharedsecret")
    return client


@pytest.fixture
def tokfile(tmp_path):
    return str(tmp_path / "peppertok.json")


@pytest.fixture
def output_file(tmp_path):
    return str(tmp_path / "output")


@pytest.fixture(params=["/run", "/login"])
def pepper_cli(request, output_file):
    given = ["--out=json", "--output-file=" + output_file, "-c", "tests/.pepperrc"]
    if request.param == "/run":
        given.insert(0, "--run-uri")

    def run(*args, **kwargs):
        sys.argv = ["pepper", "-p", kwargs.pop("profile", "main"), *given, *args]
        code = pepper.script.Pepper()()
        if not os.path.exists(output_file):
            return code
        text = open(output_file).read()
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError:
            # One answer a minion, as texts of JSON behind each other.
            return [json.loads(part.strip('"') + "}") for part in text.split('}"\n') if part]

    return run


@pytest.fixture(scope="session")
def session_master():
    return types.SimpleNamespace(config={"default_include": "master.d/*.conf"}, config_dir=os.environ["PEPPER_CONF"])


@pytest.fixture(scope="session")
def session_minion_id():
    return os.environ["PEPPER_MINION"]


@pytest.fixture(scope="session")
def session_minion(session_minion_id):
    return types.SimpleNamespace(id=session_minion_id)


@pytest.fixture(scope="session")
def session_ssh_roster_config():
    pytest.skip("there is no salt-ssh")


def pytest_addoption(parser):
    parser.addoption("--salt-api-backend", default="rest_cherrypy")
