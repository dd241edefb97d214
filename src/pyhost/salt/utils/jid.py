"""The ids of jobs."""
import datetime
import hashlib
import os

LAST_JID_DATETIME = None


def _utc_now():
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)


def gen_jid(opts):
    """Return a new id: the time, to the microsecond."""
    global LAST_JID_DATETIME
    now = _utc_now() if opts.get("utc_jid") else datetime.datetime.now()
    if not opts.get("unique_jid"):
        return f"{now:%Y%m%d%H%M%S%f}"
    if LAST_JID_DATETIME and LAST_JID_DATETIME >= now:
        now = LAST_JID_DATETIME + datetime.timedelta(microseconds=1)
    LAST_JID_DATETIME = now
    return f"{now:%Y%m%d%H%M%S%f}_{os.getpid()}"


def is_jid(jid):
    """Say whether a text is the id of a job."""
    if not isinstance(jid, str) or len(jid) != 20 and (len(jid) <= 21 or jid[20] != "_"):
        return False
    return jid[:20].isdigit()


def jid_to_time(jid):
    """Return the time that an id tells, as text; an empty text for what is no id."""
    jid = str(jid)
    if len(jid) != 20 and (len(jid) <= 21 or jid[20] != "_"):
        return ""
    return datetime.datetime.strptime(jid[:20], "%Y%m%d%H%M%S%f").strftime("%Y, %b %d %H:%M:%S.%f")


def format_job_instance(job):
    """Return a job's record as lists of jobs show it."""
    ret = {
        "Function": job.get("fun", "unknown-function"),
        "Arguments": list(job.get("arg", [])),
        "Target": job.get("tgt", "unknown-target"),
        "Target-type": job.get("tgt_type", "list"),
        "User": job.get("user", "root"),
    }
    if "metadata" in job:
        ret["Metadata"] = job["metadata"]
    elif "kwargs" in job and "metadata" in job["kwargs"]:
        ret["Metadata"] = job["kwargs"]["metadata"]
    if "Minions" in job:
        ret["Minions"] = job["Minions"]
    return ret


def format_jid_instance(jid, job):
    """Return a job's record with the time of its start."""
    return dict(format_job_instance(job), StartTime=jid_to_time(jid))


def format_jid_instance_ext(jid, job):
    """Return a job's record with its id and the time of its start."""
    return dict(format_job_instance(job), JID=jid, StartTime=jid_to_time(jid))


def jid_dir(jid, job_dir=None, hash_type="sha256"):
    """Return the folder of a job in a cache of files."""
    digest = hashlib.new(hash_type, str(jid).encode()).hexdigest()
    parts = [job_dir] if job_dir is not None else []
    return os.path.join(*parts, digest[:2], digest[2:])
