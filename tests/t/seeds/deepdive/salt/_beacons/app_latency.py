"""Beacon that monitors application response latency."""
import requests
import time
import logging

log = logging.getLogger(__name__)

def validate(config):
    if not isinstance(config, list) or not config:
        return False, "Configuration must be a non-empty list"
    return True, "Valid beacon configuration"

def beacon(config):
    """Check application latency and fire event if threshold exceeded."""
    ret = []

    for entry in config:
        url = entry.get("url", "http://localhost:8000/health")
        threshold_ms = entry.get("threshold_ms", 500)

        start = time.monotonic()
        try:
            resp = requests.get(url, timeout=5)
            latency_ms = (time.monotonic() - start) * 1000

            if latency_ms > threshold_ms:
                ret.append({
                    "url": url,
                    "latency_ms": round(latency_ms, 1),
                    "threshold_ms": threshold_ms,
                    "status_code": resp.status_code,
                    "tag": "high_latency",
                })
        except requests.RequestException as e:
            ret.append({
                "url": url,
                "error": str(e),
                "tag": "unreachable",
            })

    return ret
