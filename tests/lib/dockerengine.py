#!/usr/bin/env python3
"""A played Docker Engine: enough of its HTTP API on a Unix socket, with containers, images, networks and volumes that
are kept in memory. Answers have the members that the Engine's API description (v1.41) names and that real engines send.

    dockerengine.py SOCKET [WORLD.json]

It returns as soon as the socket listens; the server behind it ends when the socket's file is gone. Each request is a
line "METHOD PATH?QUERY BODY" of SOCKET.requests. WORLD: {"pull": {image: id}, "images": [tag], "containers": [{name, image,
running, paused, HostConfig ...}], "networks": [name], "volumes": [name]}. Ids follow from names, so that they are the same in each run."""
import base64
import hashlib
import io
import json
import os
import re
import socketserver
import struct
import sys
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

CREATED = 1700000000


def ident(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Refused(Exception):
    def __init__(self, status, message):
        self.status, self.message = status, message


class Engine:
    def __init__(self, world):
        self.count = 0
        self.pullable = world.get("pull", {"busybox:latest": "busybox", "nginx:1.25": "nginx125", "nginx:latest": "nginx"})
        self.fails = world.get("fails", [])
        self.images, self.containers, self.networks, self.volumes, self.execs = {}, {}, {}, {}, {}
        for name in world.get("images", ["busybox:latest"]):
            self.add_image(name, self.pullable.get(name, name))
        for name, driver in (("bridge", "bridge"), ("host", "host"), ("none", "null")):
            self.add_network({"Name": name, "Driver": driver})
        for net in world.get("networks", []):
            self.add_network(net if isinstance(net, dict) else {"Name": net})
        for vol in world.get("volumes", []):
            self.add_volume(vol if isinstance(vol, dict) else {"Name": vol})
        for spec in world.get("containers", []):
            spec = dict(spec)
            name, running, paused = spec.pop("name"), spec.pop("running", False), spec.pop("paused", False)
            body = {"Image": spec.pop("image", "busybox:latest"), "HostConfig": spec.pop("HostConfig", {"NetworkMode": "default"}), **spec}
            c = self.create(name, body)
            if running:
                self.start(c)
            if paused:
                c["State"].update(Paused=True, Status="paused")

    # images
    def add_image(self, tag, seed):
        id_ = "sha256:" + ident(seed)
        img = self.images.setdefault(id_, {
            "Id": id_, "RepoTags": [], "RepoDigests": [], "Parent": "", "Comment": "", "Created": "2023-11-14T22:13:20Z",
            "Config": {"Cmd": ["sh"], "Env": ["PATH=/usr/bin:/bin"], "Entrypoint": None, "Labels": None, "WorkingDir": "", "User": "", "Volumes": None, "ExposedPorts": None},
            "Architecture": "amd64", "Os": "linux", "Size": 4261550, "VirtualSize": 4261550})
        for other in self.images.values():
            if tag in other["RepoTags"]:
                other["RepoTags"].remove(tag)
        img["RepoTags"].append(tag)
        return img

    def image(self, name):
        full = name if ":" in name.rsplit("/", 1)[-1] else name + ":latest"
        for id_, img in self.images.items():
            if name == id_ or full in img["RepoTags"] or (len(name) >= 12 and id_.split(":")[1].startswith(name.split(":")[-1])):
                return img
        raise Refused(404, "No such image: " + full)

    # networks, volumes
    def add_network(self, body):
        if any(n["Name"] == body["Name"] for n in self.networks.values()):
            raise Refused(409, "network with name %s already exists" % body["Name"])
        id_ = ident("network " + body["Name"])
        ipam = body.get("IPAM") or {}
        config = ipam.get("Config") or []
        for pool in config:
            pool.update({k: v for k, v in pool.items() if v is not None})
        if not config and body.get("Driver", "bridge") == "bridge":
            config = [{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}]
        self.networks[id_] = {
            "Name": body["Name"], "Id": id_, "Created": "2023-11-14T22:13:20Z", "Scope": "local", "Driver": body.get("Driver") or "bridge",
            "EnableIPv6": bool(body.get("EnableIPv6")), "IPAM": {"Driver": ipam.get("Driver") or "default", "Options": ipam.get("Options"), "Config": [{k: v for k, v in p.items() if v is not None} for p in config]},
            "Internal": bool(body.get("Internal")), "Attachable": bool(body.get("Attachable")), "Ingress": False, "ConfigFrom": {"Network": ""}, "ConfigOnly": False,
            "Containers": {}, "Options": body.get("Options") or {}, "Labels": body.get("Labels") or {}}
        return self.networks[id_]

    def network(self, name):
        for id_, net in self.networks.items():
            if name in (id_, net["Name"]):
                return net
        raise Refused(404, "network %s not found" % name)

    def add_volume(self, body):
        name = body.get("Name") or ident("volume %d" % len(self.volumes))
        return self.volumes.setdefault(name, {
            "CreatedAt": "2023-11-14T22:13:20Z", "Driver": body.get("Driver") or "local", "Labels": body.get("Labels"), "Mountpoint": "/var/lib/docker/volumes/%s/_data" % name,
            "Name": name, "Options": body.get("DriverOpts"), "Scope": "local"})

    # containers
    def create(self, name, body):
        img = self.image(body["Image"])
        self.count += 1
        id_ = ident("container %s" % (name if name else self.count))
        name = name or "quirky_%d" % self.count
        if any(c["Name"] == "/" + name for c in self.containers.values()):
            raise Refused(409, 'Conflict. The container name "/%s" is already in use by container "%s". You have to remove (or rename) that container to be able to reuse that name.' % (name, ident("container " + name)))
        host = dict(body.get("HostConfig") or {})
        base = img["Config"]
        env = list(body.get("Env") or [])
        env += [e for e in base["Env"] if e.split("=")[0] not in [x.split("=")[0] for x in env]]
        config = {
            "Hostname": body.get("Hostname") or id_[:12], "Domainname": body.get("Domainname") or "", "User": body.get("User") or "", "AttachStdin": bool(body.get("AttachStdin")),
            "AttachStdout": bool(body.get("AttachStdout", True)), "AttachStderr": bool(body.get("AttachStderr", True)), "Tty": bool(body.get("Tty")), "OpenStdin": bool(body.get("OpenStdin")),
            "StdinOnce": bool(body.get("StdinOnce")), "Env": env, "Cmd": body.get("Cmd") or base["Cmd"], "Image": body["Image"], "Volumes": body.get("Volumes"),
            "WorkingDir": body.get("WorkingDir") or "", "Entrypoint": body.get("Entrypoint"), "OnBuild": None, "Labels": body.get("Labels") or {}}
        for key in ("ExposedPorts", "StopSignal", "StopTimeout", "Healthcheck", "MacAddress"):
            if body.get(key):
                config[key] = body[key]
        full = {
            "Binds": None, "ContainerIDFile": "", "LogConfig": {"Type": "json-file", "Config": {}}, "NetworkMode": "default", "PortBindings": {}, "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
            "AutoRemove": False, "VolumeDriver": "", "VolumesFrom": None, "CapAdd": None, "CapDrop": None, "Dns": [], "DnsOptions": [], "DnsSearch": [], "ExtraHosts": None, "GroupAdd": None, "IpcMode": "private",
            "Links": None, "OomScoreAdj": 0, "PidMode": "", "Privileged": False, "PublishAllPorts": False, "ReadonlyRootfs": False, "SecurityOpt": None, "UTSMode": "", "UsernsMode": "", "ShmSize": 67108864,
            "Runtime": "runc", "CpuShares": 0, "Memory": 0, "MemorySwap": 0, "MemorySwappiness": None, "OomKillDisable": False, "PidsLimit": None, "Ulimits": None, "Devices": [], "NanoCpus": 0}
        links = host.get("Links")
        full.update({k: v for k, v in host.items() if v is not None})
        if links:
            full["Links"] = ["/%s:/%s/%s" % (x.split(":")[0], name, x.split(":")[1]) for x in links]
        nets = {}
        mode = full["NetworkMode"]
        mode = "bridge" if mode == "default" else mode
        if not mode.startswith("container:"):
            self.network(mode)
            given = ((body.get("NetworkingConfig") or {}).get("EndpointsConfig") or {}).get(mode) or {}
            nets[mode] = self.endpoint(mode, given, id_)
        self.containers[id_] = {
            "Id": id_, "Created": "2023-11-14T22:13:20.000000000Z", "Path": (config["Cmd"] or [""])[0], "Args": (config["Cmd"] or [""])[1:],
            "State": {"Status": "created", "Running": False, "Paused": False, "Restarting": False, "OOMKilled": False, "Dead": False, "Pid": 0, "ExitCode": 0, "Error": ""},
            "Image": img["Id"], "Name": "/" + name, "RestartCount": 0, "Driver": "overlay2", "Platform": "linux", "Mounts": [], "Config": config, "HostConfig": full,
            "NetworkSettings": {"Ports": {}, "Networks": nets}}
        return self.containers[id_]

    def endpoint(self, mode, given, id_):
        net = self.network(mode)
        own = mode not in ("bridge", "host", "none")
        aliases = list(given.get("Aliases") or [])
        return {"IPAMConfig": given.get("IPAMConfig"), "Links": given.get("Links"), "Aliases": (aliases + [id_[:12]] if own else None), "NetworkID": net["Id"], "EndpointID": "", "Gateway": "", "IPAddress": "", "IPPrefixLen": 0,
                "IPv6Gateway": "", "GlobalIPv6Address": "", "GlobalIPv6PrefixLen": 0, "MacAddress": "", "DriverOpts": None}

    def container(self, name):
        for id_, c in self.containers.items():
            if c["Name"] == "/" + name.lstrip("/") or (len(name) >= 12 and id_.startswith(name)):
                return c
        raise Refused(404, "No such container: " + name)

    def start(self, c):
        if c["State"]["Paused"]:
            raise Refused(409, "cannot start a paused container, try unpause instead")
        if c["Config"]["Cmd"] and c["Config"]["Cmd"][0] == "/none":
            raise Refused(400, 'failed to create task for container: exec: "/none": stat /none: no such file or directory: unknown')
        short = c["Config"]["Cmd"] and c["Config"]["Cmd"][0] in ("true", "false", "echo")
        if short:
            c["State"].update(Status="exited", ExitCode=1 if c["Config"]["Cmd"][0] == "false" else 0)
            return
        c["State"].update(Status="running", Running=True, Pid=4242)
        c["NetworkSettings"]["Ports"] = {p: [{"HostIp": b.get("HostIp") or "0.0.0.0", "HostPort": b.get("HostPort")} for b in (binds or [])] for p, binds in (c["HostConfig"]["PortBindings"] or {}).items()}
        for name, ep in c["NetworkSettings"]["Networks"].items():
            self.attach(name, ep, c)

    def attach(self, name, ep, c):
        net = self.network(name)
        if net["Name"] in ("host", "none"):
            return
        base = (net["IPAM"]["Config"] or [{"Subnet": "172.30.0.0/16"}])[0]["Subnet"].split("/")[0].rsplit(".", 1)[0]
        ip = ((ep.get("IPAMConfig") or {}).get("IPv4Address")) or "%s.%d" % (base, len(net["Containers"]) + 2)
        ep.update(IPAddress=ip, Gateway=base + ".1", EndpointID=ident("ep" + c["Id"]), IPPrefixLen=16)
        net["Containers"][c["Id"]] = {"Name": c["Name"].lstrip("/"), "EndpointID": ep["EndpointID"], "MacAddress": "", "IPv4Address": ip + "/16", "IPv6Address": ""}

    def stop(self, c, code=0):
        c["State"].update(Status="exited", Running=False, Paused=False, Pid=0, ExitCode=code)
        for net in self.networks.values():
            net["Containers"].pop(c["Id"], None)
        for ep in c["NetworkSettings"]["Networks"].values():
            ep.update(IPAddress="", Gateway="", EndpointID="", IPPrefixLen=0)
        c["NetworkSettings"]["Ports"] = {}

    def summary(self, c):
        st = c["State"]
        status = "Up 2 minutes" + (" (Paused)" if st["Paused"] else "") if st["Running"] else ("Created" if st["Status"] == "created" else "Exited (%d) 2 minutes ago" % st["ExitCode"])
        return {"Id": c["Id"], "Names": [c["Name"]], "Image": c["Config"]["Image"], "ImageID": c["Image"], "Command": " ".join(c["Config"]["Cmd"] or []), "Created": CREATED, "Ports": [], "Labels": c["Config"]["Labels"],
                "State": st["Status"], "Status": status, "HostConfig": {"NetworkMode": c["HostConfig"]["NetworkMode"]}, "Mounts": []}

    # ---- requests
    def handle(self, method, path, q, body, raw):
        one = lambda k, d=None: q.get(k, [d])[0]
        yes = lambda k: one(k, "0").lower() in ("1", "true")
        parts = [unquote(p) for p in path.strip("/").split("/")]
        for fail in self.fails:
            if re.fullmatch(fail["on"], method + " " + path):
                raise Refused(fail.get("status", 500), fail.get("message", "refused by the test"))
        kind, rest = parts[0], parts[1:]
        name = "getattr"
        if method == "GET" and kind == "version":
            return 200, {"Platform": {"Name": "Docker Engine - Community"}, "Version": "24.0.7", "ApiVersion": "1.41", "MinAPIVersion": "1.12", "GitCommit": "311b9ff", "GoVersion": "go1.20.10", "Os": "linux", "Arch": "amd64", "KernelVersion": "6.1.0", "BuildTime": "2023-10-26T09:08:02.000000000+00:00"}
        if method == "GET" and kind == "info":
            return 200, {"ID": "PLAY", "Containers": len(self.containers), "Images": len(self.images), "Driver": "overlay2", "Name": "played", "ServerVersion": "24.0.7", "OperatingSystem": "Debian GNU/Linux 12 (bookworm)"}
        name = "r_%s_%s" % (kind, method.lower())
        return getattr(self, name)(rest, q, body, raw, one, yes)

    def r_containers_get(self, rest, q, body, raw, one, yes):
        if rest == ["json"]:
            return 200, [self.summary(c) for c in self.containers.values() if yes("all") or c["State"]["Running"]]
        c = self.container(rest[0])
        what = rest[1]
        if what == "json":
            return 200, c
        if what == "top":
            if not c["State"]["Running"]:
                raise Refused(409, "Container %s is not running" % c["Id"])
            return 200, {"Titles": ["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"], "Processes": [["root", "4242", "4220", "0", "22:13", "?", "00:00:00", "sh"]]}
        if what == "changes":
            return 200, [{"Path": "/etc", "Kind": 0}, {"Path": "/etc/new", "Kind": 1}, {"Path": "/old", "Kind": 2}]
        if what == "logs":
            lines = [(1, b"out line\n"), (2, b"err line\n")]
            if one("tail", "all") not in ("all",):
                lines = lines[-int(one("tail")):]
            lines = [x for x in lines if yes("stdout" if x[0] == 1 else "stderr")]
            return 200, b"".join(t if c["Config"]["Tty"] else struct.pack(">BxxxL", n, len(t)) + t for n, t in lines)
        if what == "export":
            return 200, b"TAR of " + rest[0].encode() + b"\n" * 200
        if what == "archive":
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w") as tar:
                # Commands inside run on the host, so that its files are a container's too.
                if os.path.exists(one("path")) and not one("path").startswith("/etc"):
                    tar.add(one("path"), os.path.basename(one("path")))
                    return 200, out.getvalue() if tar.close() is None else b""
                info = tarfile.TarInfo(os.path.basename(one("path")))
                info.size, info.mode = 6, 0o644
                if one("path") == "/etc":
                    info.type, info.size = tarfile.DIRTYPE, 0
                elif one("path") != "/etc/motd":
                    raise Refused(404, "Could not find the file %s in container %s" % (one("path"), rest[0]))
                tar.addfile(info, io.BytesIO(b"hello\n"))
            return 200, out.getvalue()
        raise Refused(404, "page not found")

    def r_containers_put(self, rest, q, body, raw, one, yes):
        self.container(rest[0])
        if rest[1:] != ["archive"]:
            raise Refused(404, "page not found")
        if not os.path.isdir(one("path")):
            raise Refused(404, "Could not find the file %s in container %s" % (one("path"), rest[0]))
        with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
            tar.extractall(one("path"))
        return 200, b""

    def r_containers_post(self, rest, q, body, raw, one, yes):
        if rest == ["create"]:
            return 201, {"Id": self.create(one("name"), body)["Id"], "Warnings": []}
        if rest == ["prune"]:
            gone = [k for k, c in self.containers.items() if not c["State"]["Running"]]
            for k in gone:
                del self.containers[k]
            return 200, {"ContainersDeleted": gone or None, "SpaceReclaimed": 0}
        c = self.container(rest[0])
        what, st = rest[1], c["State"]
        if what == "start":
            if st["Running"]:
                return 304, b""
            self.start(c)
        elif what in ("stop", "kill"):
            if not st["Running"]:
                if what == "stop":
                    return 304, b""
                raise Refused(409, "Cannot kill container: %s: Container %s is not running" % (rest[0], c["Id"]))
            if one("signal") in (None, "9", "KILL", "SIGKILL", "TERM", "15", "SIGTERM"):
                self.stop(c, 137 if what == "kill" else 0)
                if c["HostConfig"]["AutoRemove"]:
                    del self.containers[c["Id"]]
        elif what == "restart":
            st["Paused"] = False
            self.stop(c)
            self.start(c)
        elif what == "pause":
            st.update(Paused=True, Status="paused")
        elif what == "unpause":
            st.update(Paused=False, Status="running")
        elif what == "wait":
            if st["Running"]:
                self.stop(c, 3)
            return 200, {"StatusCode": st["ExitCode"]}
        elif what == "rename":
            c["Name"] = "/" + one("name")
        elif what == "exec":
            if not st["Running"]:
                raise Refused(409, "Container %s is not running" % c["Id"])
            id_ = ident("exec %d" % len(self.execs))
            self.execs[id_] = body
            return 201, {"Id": id_}
        return 204, b""

    def r_exec_post(self, rest, q, body, raw, one, yes):
        import subprocess
        done = subprocess.run(self.execs[rest[0]]["Cmd"], capture_output=True)
        self.execs[rest[0]]["code"] = done.returncode
        return 200, b"".join(struct.pack(">BxxxL", n, len(t)) + t for n, t in ((1, done.stdout), (2, done.stderr)) if t)

    def r_exec_get(self, rest, q, body, raw, one, yes):
        return 200, {"ID": rest[0], "Running": False, "ExitCode": self.execs[rest[0]]["code"]}

    def r_containers_delete(self, rest, q, body, raw, one, yes):
        c = self.container(rest[0])
        if c["State"]["Running"]:
            if not yes("force"):
                raise Refused(409, "You cannot remove a running container %s. Stop the container before attempting removal or force remove" % c["Id"])
            self.stop(c)
        del self.containers[c["Id"]]
        return 204, b""

    def r_images_get(self, rest, q, body, raw, one, yes):
        if rest == ["json"]:
            return 200, [{"Id": i["Id"], "ParentId": i["Parent"], "RepoTags": i["RepoTags"] or None, "RepoDigests": [], "Created": CREATED, "Size": i["Size"], "VirtualSize": i["VirtualSize"], "SharedSize": -1, "Labels": None, "Containers": -1} for i in self.images.values()]
        if rest == ["search"]:
            return 200, [{"name": "nginx", "description": "Official build of Nginx.", "is_official": True, "is_automated": False, "star_count": 19000}, {"name": "bitnami/nginx", "description": "", "is_official": False, "is_automated": True, "star_count": 180}] if one("term") == "nginx" else []
        img, what = self.image("/".join(rest[:-1])), rest[-1]
        if what == "json":
            return 200, img
        if what == "history":
            return 200, [{"Id": img["Id"], "Created": CREATED, "CreatedBy": '/bin/sh -c #(nop)  CMD ["sh"]', "Tags": img["RepoTags"], "Size": 0, "Comment": ""}, {"Id": "<missing>", "Created": CREATED, "CreatedBy": "/bin/sh -c apt-get update", "Tags": None, "Size": 4261550, "Comment": ""}]
        if what == "get":
            return 200, b"IMAGE " + img["Id"].encode() + b"\n" * 2000
        raise Refused(404, "page not found")

    def r_images_post(self, rest, q, body, raw, one, yes):
        if rest == ["create"]:
            if one("fromSrc"):
                img = self.add_image("%s:%s" % (one("repo"), one("tag")), "import " + hashlib.sha256(raw).hexdigest())
                return 200, [{"status": img["Id"]}]
            full = "%s:%s" % (one("fromImage"), one("tag"))
            if full not in self.pullable:
                raise Refused(404, "pull access denied for %s, repository does not exist or may require 'docker login': denied: requested access to the resource is denied" % one("fromImage"))
            had = any(full in i["RepoTags"] for i in self.images.values())
            img = self.add_image(full, self.pullable[full])
            short = img["Id"].split(":")[1][:12]
            events = [{"status": "Pulling from library/" + one("fromImage"), "id": one("tag")}]
            if not had:
                events += [{"status": "Pulling fs layer", "progressDetail": {}, "id": short}, {"status": "Download complete", "progressDetail": {}, "id": short}, {"status": "Pull complete", "progressDetail": {}, "id": short}]
            return 200, events + [{"status": "Digest: sha256:" + ident(full)}, {"status": "Status: %s for %s" % ("Image is up to date" if had else "Downloaded newer image", full)}]
        if rest == ["load"]:
            img = self.add_image("loaded:1", "load " + hashlib.sha256(raw).hexdigest())
            img["RepoTags"] = []
            return 200, [{"stream": "Loaded image ID: %s\n" % img["Id"]}]
        if rest == ["prune"]:
            return 200, {"ImagesDeleted": None, "SpaceReclaimed": 0}
        what = rest[-1]
        img = self.image("/".join(rest[:-1]))
        if what == "tag":
            img["RepoTags"].append("%s:%s" % (one("repo"), one("tag") or "latest"))
            return 201, b"\r\n"  # as podman
        if what == "push":
            return 200, [{"status": "The push refers to repository [docker.io/library/%s]" % "/".join(rest[:-1])}, {"status": "Pushed", "progressDetail": {}, "id": "aaaabbbbcccc"}, {"status": "Layer already exists", "progressDetail": {}, "id": "ddddeeeeffff"}] if img else []
        raise Refused(404, "page not found")

    def r_images_delete(self, rest, q, body, raw, one, yes):
        img = self.image("/".join(rest))
        users = [c for c in self.containers.values() if c["Image"] == img["Id"]]
        if users and not yes("force"):
            raise Refused(409, "conflict: unable to delete %s (must be forced) - image is being used by stopped container %s" % (img["Id"].split(":")[1][:12], users[0]["Id"][:12]))
        del self.images[img["Id"]]
        return 200, [{"Untagged": t} for t in img["RepoTags"]] + [{"Deleted": img["Id"]}]

    def r_commit_post(self, rest, q, body, raw, one, yes):
        self.container(one("container"))
        return 201, {"Id": self.add_image("%s:%s" % (one("repo"), one("tag")), "commit " + one("container"))["Id"]}

    def r_build_post(self, rest, q, body, raw, one, yes):
        names = {m.name.lstrip("./"): m for m in tarfile.open(fileobj=io.BytesIO(raw)).getmembers()} if raw else {}
        if (one("dockerfile") or "Dockerfile") not in names:
            raise Refused(500, "Cannot locate specified Dockerfile: " + (one("dockerfile") or "Dockerfile"))
        if "fail" in names:
            return 200, [{"stream": "Step 1/1 : RUN false\n"}, {"errorDetail": {"code": 1, "message": "The command '/bin/sh -c false' returned a non-zero code: 1"}, "error": "x"}]
        img = self.add_image(one("t") or "<none>:<none>", "build " + ",".join(sorted(n for n in names if n)))
        return 200, [{"stream": "Step 1/1 : FROM busybox\n"}, {"stream": " ---> Running in 0123456789ab\n"}, {"stream": "Successfully built %s\n" % img["Id"].split(":")[1][:12]}]

    def r_networks_get(self, rest, q, body, raw, one, yes):
        if not rest:
            want = json.loads(one("filters", "{}"))
            return 200, [{**n, "Containers": {}} for n in self.networks.values() if (not want.get("name") or any(x in n["Name"] for x in want["name"])) and (not want.get("id") or any(n["Id"].startswith(x) for x in want["id"]))]
        return 200, self.network(rest[0])

    def r_networks_post(self, rest, q, body, raw, one, yes):
        if rest == ["create"]:
            return 201, {"Id": self.add_network(body)["Id"], "Warning": ""}
        if rest == ["prune"]:
            return 200, {"NetworksDeleted": None}
        net, c = self.network(rest[0]), self.container(body["Container"])
        nets = c["NetworkSettings"]["Networks"]
        if rest[1] == "connect":
            if net["Name"] in nets:
                raise Refused(403, "endpoint with name %s already exists in network %s" % (c["Name"].lstrip("/"), net["Name"]))
            nets[net["Name"]] = self.endpoint(net["Name"], body.get("EndpointConfig") or {}, c["Id"])
            if c["State"]["Running"]:
                self.attach(net["Name"], nets[net["Name"]], c)
        else:
            if net["Name"] not in nets:
                raise Refused(500, "container %s is not connected to network %s" % (c["Id"], net["Name"]))
            del nets[net["Name"]]
            net["Containers"].pop(c["Id"], None)
        return 200, b"OK"  # as podman

    def r_networks_delete(self, rest, q, body, raw, one, yes):
        net = self.network(rest[0])
        if net["Containers"]:
            raise Refused(403, "error while removing network: network %s id %s has active endpoints" % (net["Name"], net["Id"]))
        del self.networks[net["Id"]]
        return 204, b""

    def r_volumes_get(self, rest, q, body, raw, one, yes):
        if not rest:
            return 200, {"Volumes": list(self.volumes.values()), "Warnings": None}
        if rest[0] not in self.volumes:
            raise Refused(404, "get %s: no such volume" % rest[0])
        return 200, self.volumes[rest[0]]

    def r_volumes_post(self, rest, q, body, raw, one, yes):
        if rest == ["prune"]:
            return 200, {"VolumesDeleted": [], "SpaceReclaimed": 0}
        if body.get("Driver") == "missing":
            raise Refused(400, 'create %s: error looking up volume plugin missing: plugin "missing" not found' % body.get("Name"))
        return 201, self.add_volume(body)

    def r_volumes_delete(self, rest, q, body, raw, one, yes):
        if rest[0] not in self.volumes:
            raise Refused(404, "get %s: no such volume" % rest[0])
        if rest[0].startswith("busy"):
            raise Refused(409, "remove %s: volume is in use - [%s]" % (rest[0], ident("user")))
        del self.volumes[rest[0]]
        return 204, b""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "local"

    def log_message(self, *args):
        pass

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            out = b""
            while True:
                n = int(self.rfile.readline().strip() or b"0", 16)
                out += self.rfile.read(n)
                self.rfile.readline()
                if n == 0:
                    return out
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            data = json.dumps(event).encode() + b"\r\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def serve(self):
        raw = self.body()
        url = urlsplit(self.path)
        path = re.sub(r"^/v[0-9.]+(?=/)", "", url.path)
        try:
            body = json.loads(raw) if raw[:1] == b"{" else {}
        except ValueError:
            body = {}
        with self.server.lock:
            shown = json.dumps(body, sort_keys=True) if body else ("%d bytes" % len(raw) if raw else "")
            auth = self.headers.get("X-Registry-Auth")
            with open(self.server.server_address + ".requests", "a") as log:
                log.write("%s %s%s %s%s\n" % (self.command, path, "?" + url.query if url.query else "", shown, " auth " + base64.urlsafe_b64decode(auth + "==").decode() if auth else ""))
            try:
                status, answer = self.server.engine.handle(self.command, path, parse_qs(url.query), body, raw)
            except Refused as exc:
                status, answer = exc.status, {"message": exc.message}
            except AttributeError:
                status, answer = 404, {"message": "page not found"}
            if isinstance(answer, list) and answer and isinstance(answer[0], dict) and set(answer[0]) & {"status", "stream"} and path.split("/")[1] in ("images", "build") and self.command == "POST":
                return self.stream(answer)
            elif isinstance(answer, bytes):
                data, kind = answer, "application/octet-stream"
            else:
                data, kind = json.dumps(answer).encode(), "application/json"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Api-Version", "1.41")
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if status not in (204, 304):
            self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = serve


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def main():
    path = sys.argv[1]
    world = json.load(open(sys.argv[2])) if len(sys.argv) > 2 else {}
    server = Server(path, Handler)
    server.engine, server.lock = Engine(world), threading.Lock()
    if os.fork():
        os._exit(0)
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    for fd in range(3, 64):
        if fd != server.fileno() and fd != null:
            try:
                os.close(fd)
            except OSError:
                pass
    server.socket.settimeout(None)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True).start()
    while os.path.exists(path):
        time.sleep(0.2)
    os._exit(0)


main()
